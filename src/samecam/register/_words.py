"""Views in words, for people."""

from samecam.frames import Frame
from samecam.register._view import View

# What a lens correction or the rounding of a scale may change, as a share of the scale.
_NEARLY, _SAME = 0.06, 0.0005
# Pixels up to which a shift is not worth a word, and up to which a centre is the same: zooms
# and modes are a few pixels off.
_STILL, _CENTRED = 0.5, 8.0


def view_words(view: View, picture: Frame, camera: Frame) -> str:
    """How a picture sees a camera: "2.0× zoom", "1600-pixel copies, turned by 90°".

    Parameters
    ----------
    view : how
    picture, camera : their frames
    """
    upright = Frame(*reversed(picture)) if view.turn % 180 else picture
    parts = [*_field(view, upright, camera, str(picture)), *_turned(view)]
    return ", ".join(parts) or str(picture)


def _field(view: View, picture: Frame, camera: Frame, name: str) -> list[str]:
    """What of the camera's frame is seen, and how large; `picture` is turned back."""
    seen = max(picture.width / camera.width, picture.height / camera.height) / view.scale
    natural, whole = abs(view.scale - 1) <= _NEARLY, abs(seen - 1) <= _NEARLY
    parts = []
    if natural and picture != camera:
        parts.append(f"{name}, {_place(view)}")
    elif not natural and whole:
        parts.append(f"{max(picture)}-pixel copies")
    elif not natural:
        parts.append(f"{1 / seen:.1f}× zoom" if seen < 1 else f"{seen:.1f}× wider")
        if max(picture) != max(camera):
            parts.append(f"{max(picture)}-pixel copies")
    if natural and (abs(view.scale - 1) > _SAME or abs(view.radial) > _SAME):
        parts.append(_correction(view))
    if picture == camera and max(map(abs, view.shift)) > (_STILL if natural else _CENTRED):
        parts.append("shifted by {} and {} pixels".format(*map(_signed, view.shift)))
    return parts


def _place(view: View) -> str:
    """Where a picture of natural size lies."""
    if max(map(abs, view.shift)) <= _CENTRED:
        return "same centre"
    return "{} and {} pixels from the centre".format(*map(_signed, view.shift))


def _correction(view: View) -> str:
    """A lens correction, by its scale, and by what it adds at the corners."""
    figures = [f"{view.scale:.3f}".removeprefix("0")] if abs(view.scale - 1) > _SAME else []
    if abs(view.radial) > _SAME:
        figures.append(f"{_signed(100 * view.radial, 1)} % at the corners")
    return f"lens corrected ({', '.join(figures)})"


def _turned(view: View) -> list[str]:
    turned = [f"turned by {view.turn}°"] if view.turn else []
    return [" and ".join(["mirrored", *turned])] if view.mirrored else turned


def _signed(value: float, digits: int = 0) -> str:
    text = f"{value:+.{digits}f}"
    return text.lstrip("+-") if not float(text) else text.replace("-", "−")

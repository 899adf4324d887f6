"""The truth about simulated photos: who took which, and how each shows its sensor."""

from samecam.simulate._arguments import Arguments
from samecam.simulate._look import Look
from samecam.simulate._plan import Photo
from samecam.simulate._shots import seen_in_copy
from samecam.simulate._taken import Taken

__all__ = ["truth_text"]

_HEADER = (
    "path,camera,view,zoom,focal_length,scale,radial,shift_x,shift_y,turn,mirrored,copy,copy_of"
)


def truth_text(asked: Arguments, photos: list[Photo]) -> str:
    """Text of `truth.csv`: path and camera, and where views are asked for what was done."""
    header, rows = "path,camera", []
    for photo in photos:
        path = f"images/{photo.name}"
        if photo.taken is None:
            rows.append(f"{path},{photo.camera.name}\n")
            continue
        header, who, taken = _HEADER, photo.camera.name, photo.taken
        copied = _details(taken, seen_in_copy(asked, photo)[0]) if taken.copy else ""
        if taken.copy and not taken.beside:
            rows.append(f"{path},{who},{copied},{taken.copy},\n")
            continue
        rows.append(f"{path},{who},{_details(taken, taken.look)},,\n")
        if taken.copy:
            rows.append(f"images/{photo.copy_name},{who},{copied},{taken.copy},{path}\n")
    return f"{header}\n" + "".join(sorted(rows))


def _details(taken: Taken, look: Look) -> str:
    """Columns from view to mirrored."""
    length = "" if taken.focal_length is None else f"{taken.focal_length:g}"
    x, y = (f"{value + 0.0:.10g}" for value in look.shift)
    return (
        f"{taken.view},{taken.zoom:g},{length},{look.scale:.10g},{look.radial + 0.0:.10g},{x},{y},"
        f"{look.turn},{int(look.mirrored)}"
    )

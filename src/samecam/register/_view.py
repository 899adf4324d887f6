"""View: how a picture sees the frame of a camera."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.frames import Frame

Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """How a picture, or a group of pictures of one frame, sees the frame of a camera.

    A picture is what the camera's frame would be if it were enlarged about its centre, mirrored
    left to right (where `mirrored`), turned, and cut or filled up to the picture's frame. A point
    q of the camera's frame, as seen from its centre, lies from the centre of the picture at

        p = U((q − shift) · scale · (1 + radial · |q − shift|²/R²))

    where U mirrors and turns and R is half the diagonal of the camera's frame.

    Attributes
    ----------
    turn : degrees by which the picture is turned clockwise: 0, 90, 180 or 270
    mirrored : whether left and right are exchanged (before turning)
    scale : 2 for a picture at 2× zoom, .4 for a copy of two fifths of the width
    radial : what a lens correction adds to the scale at the corners of the camera's frame
    shift : x and y, in pixels of the camera's frame
    score : correlation over all that is common, in units of chance; None: the camera's own frame
    rate : probability that chance gives such a score anywhere in all that was searched
    share : of the correlation that one camera would show there
    area : pixels of the camera's frame that the picture sees
    """

    turn: int = 0
    mirrored: bool = False
    scale: float = 1.0
    radial: float = 0.0
    shift: tuple[float, float] = (0.0, 0.0)
    score: float | None = None
    rate: float | None = None
    share: float | None = None
    area: int | None = None

    def seen(self, points: Points, picture: Frame, camera: Frame) -> Points:
        """Where points of the camera's frame lie in the picture.

        Parameters
        ----------
        points : (n, 2) x and y in pixels, (0, 0) the middle of the first pixel
        picture, camera : the two frames

        Returns
        -------
        (n, 2) x and y
        """
        q = np.asarray(points, dtype=np.float64) - centre(camera) - np.array(self.shift)
        square = (q**2).sum(axis=1) / square_radius(camera)
        p = q * (self.scale * (1 + self.radial * square))[:, np.newaxis]
        there: Points = p @ self.turning.T + centre(picture)
        return there

    def points(self, points: Points, picture: Frame, camera: Frame) -> Points:
        """Where points of the picture lie in the camera's frame; see `seen`."""
        p = (np.asarray(points, dtype=np.float64) - centre(picture)) @ self.turning / self.scale
        q = p.copy()
        for _ in range(20):
            square = (q**2).sum(axis=1, keepdims=True) / square_radius(camera)
            q = p / (1 + self.radial * square)
        there: Points = q + centre(camera) + np.array(self.shift)
        return there

    def inverse(self, picture: Frame, camera: Frame) -> "View":
        """How the camera's frame is seen from the picture's; the radial term to first order."""
        turn = self.turn if self.mirrored else -self.turn % 360
        x, y = -self.scale * (self.turning @ np.array(self.shift))
        radial = -self.radial * square_radius(picture) / (self.scale**2 * square_radius(camera))
        return View(turn, self.mirrored, 1 / self.scale, radial, (float(x), float(y)))

    def then(self, other: "View", between: Frame, camera: Frame) -> "View":
        """How a picture is seen that sees, by `other`, the frame `between` of this view."""
        turn = (other.turn + (-self.turn if other.mirrored else self.turn)) % 360
        x, y = np.array(self.shift) + self.turning.T @ np.array(other.shift) / self.scale
        share = self.scale**2 * square_radius(camera) / square_radius(between)
        return View(
            turn,
            self.mirrored != other.mirrored,
            self.scale * other.scale,
            self.radial + other.radial * share,
            (float(x), float(y)),
        )

    @property
    def turning(self) -> npt.NDArray[np.float64]:
        """(2, 2): what mirroring and turning do to x and y, from the camera to the picture."""
        matrix = np.diag([-1.0 if self.mirrored else 1.0, 1.0])
        quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
        return np.linalg.matrix_power(quarter, self.turn // 90) @ matrix


def centre(frame: Frame) -> npt.NDArray[np.float64]:
    """Middle of a frame, x and y."""
    return np.array([(frame.width - 1) / 2, (frame.height - 1) / 2])


def square_radius(frame: Frame) -> float:
    """Square of half the diagonal."""
    return float(max((centre(frame) ** 2).sum(), 1.0))

"""View: how a picture sees the frame of a camera."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from samecam.frames import Frame

Points = npt.NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """How a picture, or a group of pictures of one frame, sees the frame of a camera.

    A picture is what the camera's frame would be if it were mirrored left to right (where
    `mirrored`), turned, enlarged about its centre and cut or filled up to the picture's frame.
    A point p of the picture, as seen from its centre, lies in the camera's frame at

        q = U(p) / scale · (1 + radial · |p|²/R²) + shift

    from that centre, where U undoes turning and mirroring and R is half the picture's diagonal.

    Attributes
    ----------
    turn : degrees by which the picture is turned clockwise: 0, 90, 180 or 270
    mirrored : whether left and right are exchanged (before turning)
    scale : 2 for a picture at 2× zoom, .4 for a copy of two fifths of the width
    radial : what a lens correction adds at the corners of the picture, as a share of the scale
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

    def points(self, points: Points, picture: Frame, camera: Frame) -> Points:
        """Where points of the picture lie in the camera's frame.

        Parameters
        ----------
        points : (n, 2) x and y in pixels, (0, 0) the middle of the first pixel
        picture, camera : the two frames

        Returns
        -------
        (n, 2) x and y
        """
        half = np.array([(picture.width - 1) / 2, (picture.height - 1) / 2])
        p = np.asarray(points, dtype=np.float64) - half
        square = (p**2).sum(axis=1) / max((half**2).sum(), 1.0)
        x, y = p.T
        for _ in range(self.turn // 90):
            x, y = y, -x
        if self.mirrored:
            x = -x
        factor = (1 + self.radial * square) / self.scale
        middle = np.array([(camera.width - 1) / 2, (camera.height - 1) / 2])
        seen: Points = np.stack([x * factor, y * factor], axis=1) + middle + np.array(self.shift)
        return seen

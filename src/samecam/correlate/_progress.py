"""How far reading and multiplying is, said in photos."""

from collections.abc import Callable

Progress = Callable[[int, int], None]


class PhotoCount:
    """Says how many photos the work done so far makes, if all of it makes `photos`.

    Parameters
    ----------
    photos : all photos
    work : all work, in any unit
    progress : called with photos done and all photos; None: nothing is said
    """

    def __init__(self, photos: int, work: int, progress: Progress | None) -> None:
        self._photos, self._work, self._progress = photos, max(work, 1), progress
        self._done = 0

    def add(self, work: int) -> None:
        """Some more was done."""
        self._done += work
        if self._progress is not None:
            self._progress(self._photos * self._done // self._work, self._photos)

"""Where the result of a study goes: into the case, or to a file that is named."""

import os
from pathlib import Path

from samecam.errors import SamecamError
from samecam.files import check_writable

PICTURE = ".svg"


def check_result(
    file: Path, picture: Path | None, case: Path, truth: str | os.PathLike[str] | None
) -> None:
    """Refuse, before the work, a file that the result cannot, or must not, be written to.

    In the case it may only have the name it has there by default, with any ending.
    """
    if file.suffix.lower() == PICTURE:
        raise SamecamError(
            f"{str(file)!r} has the name of a picture, which is written beside the result: name "
            f"the result, like {str(file.with_suffix('.json'))!r}."
        )
    for path in (file, *([] if picture is None else [picture])):
        if path.is_dir():
            raise SamecamError(f"{str(path)!r} is a folder: name a file.")
    own, real = os.path.realpath(case), os.path.realpath(file)
    names = ("tune.", "compare.")
    fine = os.path.dirname(real) == own and os.path.basename(real).startswith(names)
    of_truth = truth is not None and real == os.path.realpath(truth)
    if (real.startswith(own + os.sep) and not fine) or of_truth:
        raise SamecamError(
            f"{str(file)!r} would be among the case's own files, or the truth: name a file "
            "elsewhere."
        )
    check_writable(file, "name a file elsewhere with -o")

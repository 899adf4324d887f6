"""Make match.png and correlations.png, pictures of the tutorials, by working through these.

python -m docs.img.make_tutorials

Needs Debian's chromium and chromium-driver (make browser).
"""

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image

from docs.img.make_report import small, take
from tests.docs.tutorials import TUTORIALS, work_through

HERE = Path(__file__).parent
TALL = 820


def main() -> None:
    pages = {page.stem: page for page in TUTORIALS}
    with tempfile.TemporaryDirectory() as folder:
        work_through(pages["journalist"], folder)
        image = Image.open(io.BytesIO(take(Path(folder, "match.html"), height=TALL)))
        small(image).save(HERE / "match.png", optimize=True)
    with tempfile.TemporaryDirectory() as folder:
        work_through(pages["researcher"], folder)
        shutil.copy(Path(folder, "correlations.png"), HERE)


if __name__ == "__main__":
    main()

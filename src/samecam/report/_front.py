"""What the page begins with: the answer in words, how sure it is, and what was examined."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup

from samecam.case import CasePhoto, SavedCase, SourceTable
from samecam.evidence import ABSENCE, MODEL, SENSOR
from samecam.report._names import marked, shown
from samecam.report._shared import SharedCameras, listed, source_name

QUESTION = "Which of these photographs were taken by the same camera?"
# Likelihood ratios, log10, that are counted: from this on, and below that.
_STRONG, _WEAK = 3.0, 1.0
EXIF = (
    "What files say of themselves (EXIF) is shown but was not used for grouping: it is easily "
    "changed."
)
LIMITS = (SENSOR, ABSENCE, MODEL, EXIF)


def counted(count: int, word: str, plural: str = "") -> str:
    """A number with its word: "1 photo", "2,000 photos"."""
    return f"{count:,} {word if count == 1 else plural or word + 's'}"


def conclusion(
    content: SavedCase, shared: SharedCameras | None, names: Mapping[int, Markup]
) -> Iterator[Markup]:
    """What was found, sentence by sentence; nothing that is not counted on this page.

    `names` : of cameras as they are shown
    """
    used, alone = len(content.used), len(content.alone)
    cameras = len(content.cameras)
    start = f"{counted(used, 'photo')} of {counted(len(content.photos), 'file')} could be used."
    if not cameras:
        yield Markup(
            f"{start} No camera was found: nothing here links any two photos to one image sensor."
        )
        return
    rest = f"{alone:,} {'is' if alone == 1 else 'are'} of none" if alone else "none is left over"
    yield Markup(
        f"{start} In {used - alone:,} of them the patterns of <b>{counted(cameras, 'image sensor')}"
        f"</b> were found, {'one' if cameras == 1 else 'one each'} of a camera; {rest}."
    )
    if shared is not None:
        yield from shared.answers
    yield from _sureness([photo for photo in content.used if photo.cluster != -1])
    yield from _open_questions(content, names)


def _sureness(photos: Sequence[CasePhoto]) -> Iterator[Markup]:
    """How many links are strong, and how many are not."""
    ratios = [photo.figure("log10_lr") for photo in photos if photo.group != -1]
    known = [ratio for ratio in ratios if ratio is not None]
    if known:
        strong, weak = sum(r >= _STRONG for r in known), sum(r < _WEAK for r in known)
        yield Markup(
            f"The likelihood ratio for its camera, against another camera, is 1,000 or more for "
            f"{strong:,} of {counted(len(known), 'photo')}, and below 10 for {weak:,}."
        )
    doubtful = sum(photo.doubtful for photo in photos)
    if doubtful:
        yield Markup(
            f"{counted(doubtful, 'photo')} {'is' if doubtful == 1 else 'are'} doubtful: look at "
            f"{'it' if doubtful == 1 else 'them'}."
        )
    placed = sum(photo.group == -1 for photo in photos)
    if placed:
        yield Markup(
            f"{counted(placed, 'photo')} in no group {'sees its' if placed == 1 else 'see their'} "
            "camera in a way of their own; the score stands beside each."
        )


def _open_questions(content: SavedCase, names: Mapping[int, Markup]) -> Iterator[Markup]:
    """Pairs of cameras that may be one."""
    camera = {group.id: group.camera for group in content.groups}
    pairs = {
        tuple(sorted((group.camera, camera[group.nearest])))
        for group in content.groups
        if group.apart == "may be one" and group.nearest in camera
    }
    for first, second in sorted(pair for pair in pairs if pair[0] != pair[1]):
        both = Markup("{} and {} may be one").format(names[first], names[second])
        yield both + Markup(": see what is said of their groups.")


def examined(content: SavedCase, table: SourceTable) -> Markup:
    """What was looked at, in a sentence."""
    where = Markup("")
    if len(table.names) > 1:
        names = listed([source_name(name) for name in table.names])
        where = Markup(" in {} folders: {}").format(f"{len(table.names):,}", names)
    began = shown(str(content.info.get("created", ""))[:10])
    return Markup(
        "{}{}. The examination was begun on {}; every file and its SHA-256 stand "
    ).format(counted(len(content.photos), "file"), where, began) + Markup(
        '<a href="#hashes">below</a>.'
    )


def paragraphs(text: str) -> Markup:
    """Text that a person wrote: paragraphs and lines as they are, all else as text."""
    parts = text.replace("\r\n", "\n").split("\n\n")
    lines = [Markup("<br>").join(map(marked, part.strip("\n").split("\n"))) for part in parts]
    return Markup("").join(Markup("<p>{}</p>").format(line) for line in lines if line)

"""Names of what lies in a case folder, and of the columns of its tables."""

from pathlib import Path

from samecam.files import check_single, refuse_link

CASE, LOG, STORE = "case.json", "log.jsonl", "fingerprints"
DESCRIPTION = f"{STORE}/store.json"
IMAGES, CLUSTERS, EVIDENCE, GROUPS = "images.csv", "clusters.csv", "evidence.csv", "clusters.json"
REPORT, PDF, START = "report.html", "report.pdf", "start.csv"
# What a person writes of the case; we only read it.
ABOUT = "about.toml"
# What persons decided, what stands after it, and the names of cameras as of the last run.
DECISIONS, DECIDED, CAMERAS = "decisions.jsonl", "decided.csv", "cameras.csv"
# Small pictures of the photos, by SHA-256, that a review has made.
THUMBNAILS = "thumbnails"
# A table of groups that somebody changed is kept under this name when it is made anew.
CHANGED = "clusters.changed.csv"
# Files that state the answer, in the order in which they are written.
ANSWER = (CLUSTERS, EVIDENCE, GROUPS)
OURS = {
    *("lock", CASE, LOG, STORE, IMAGES, *ANSWER, REPORT, PDF, START, CHANGED),
    *(DECISIONS, DECIDED, CAMERAS, ABOUT, THUMBNAILS),
    *("compare.json", "compare.svg", "tune.json", "tune.svg"),
}

# How far a case has come.
STATES = ("new", "extracting", "interrupted", "extracted", "clustering", "clustered")
STATUSES = ("good", "weak", "unusable", "duplicate", "copy", "skipped")
# Photos with these have a fingerprint and are grouped.
USED = ("good", "weak")
# What a copy keeps aside of itself while it stands in the shadow of another photo.
OWN = ("status", "code", "reason")
COLUMNS = (
    *("path", "sha256", "bytes", "width", "height", "format"),
    *("make", "model", "serial", "software", "taken", "orientation", "mode"),
    *("dark", "saturated", "flat", "even", "service", "status", "reason", "copy_of"),
)
# Those that a table of a samecam before 0.3 has.
FIRST_COLUMNS = tuple(name for name in COLUMNS if name != "mode")


def check_files(folder: Path, *, writing: bool = False) -> None:
    """Refuse a case in which a link stands for a file: what it holds must lie inside.

    Parameters
    ----------
    writing : whether files of the case are to be changed; then none may have a second name
    """
    store = folder / STORE
    inside = [*(folder / name for name in sorted(OURS)), store / "shards"]
    for path in (*inside, *store.glob("*"), *store.glob("shards/*"), *store.glob("shards/*/*")):
        if writing:
            check_single(path, folders=True)
        else:
            refuse_link(path)

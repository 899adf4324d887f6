"""Names of what lies in a case folder, and of the columns of its tables."""

CASE, LOG, STORE = "case.json", "log.jsonl", "fingerprints"
IMAGES, CLUSTERS, EVIDENCE, GROUPS = "images.csv", "clusters.csv", "evidence.csv", "clusters.json"
REPORT, START = "report.html", "start.csv"
# A table of groups that somebody changed is kept under this name when it is made anew.
CHANGED = "clusters.changed.csv"
# Files that state the answer, in the order in which they are written.
ANSWER = (CLUSTERS, EVIDENCE, GROUPS)
OURS = {
    *("lock", CASE, LOG, STORE, IMAGES, *ANSWER, REPORT, START, CHANGED),
    *("compare.json", "compare.svg", "tune.json", "tune.svg"),
}

STATUSES = ("good", "weak", "unusable", "duplicate", "skipped")
# Photos with these have a fingerprint and are grouped.
USED = ("good", "weak")
COLUMNS = (
    *("path", "sha256", "bytes", "width", "height", "format"),
    *("make", "model", "serial", "software", "taken", "orientation"),
    *("dark", "saturated", "status", "reason"),
)

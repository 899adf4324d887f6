"""The steps of Containerfile in a folder in place of an image, where no engine for images runs.

    debootstrap --variant=minbase trixie ROOT
    python -m release.container ROOT

ROOT is such a Debian, which is changed by it: RUN by chroot (as root), COPY, ENV and USER as they
are meant, then `release/smoke.py` as that user. It is not an image: layers, mounts and the entry
point are not tried.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

SOURCE = Path(__file__).parents[1]
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def steps(text: str) -> list[tuple[str, str]]:
    """Instructions of a container file, in their order: name and the rest, lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines))
    parted = (line.partition(" ") for line in whole.splitlines() if line.strip())
    return [(name.upper(), rest.strip()) for name, _, rest in parted]


def copy(words: Sequence[str], root: Path) -> None:
    """Files into a folder, or the content of a folder into another."""
    *sources, target = words
    place = root / target.lstrip("/")
    for source in sources:
        if (SOURCE / source).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
            shutil.copytree(SOURCE / source, place, ignore=ignored, dirs_exist_ok=True)
        else:
            place.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / source, place)


def chroot(root: Path, user: str, environment: dict[str, str], line: str) -> None:
    """Run a line of shell in the folder, with mounts as in a container; an error if it fails."""
    values = [f"{name}={value}" for name, value in environment.items()]
    words = ["chroot", f"--userspec={user}:{user}", str(root), "env", "-i", *values]
    asked = shlex.join([*words, "sh", "-c", line])
    subprocess.run(["unshare", "--mount", "sh", "-ec", f"{_mounts(root)}\n{asked}"], check=True)


def _mounts(root: Path) -> str:
    place = shlex.quote(str(root))
    return f"""
        mount -t proc proc {place}/proc
        mount -t tmpfs tmpfs {place}/dev
        for name in null zero random urandom; do
            touch {place}/dev/$name
            mount --bind /dev/$name {place}/dev/$name
        done
        mkdir {place}/dev/shm
        mount -t tmpfs tmpfs {place}/dev/shm"""


def main(words: Sequence[str]) -> int:
    """Take the steps in the folder that is named."""
    root = Path(words[0]).absolute()
    user, environment = "root", {"PATH": PATH}
    for name, rest in steps((SOURCE / "Containerfile").read_text(encoding="utf-8")):
        print(f"{name} {rest}", flush=True)
        if name == "RUN":
            chroot(root, user, environment, rest)
        elif name == "COPY":
            copy(rest.split(), root)
        elif name == "ENV":
            environment |= dict(word.split("=", 1) for word in rest.split())
        elif name == "USER":
            user = rest
        elif name == "ENTRYPOINT":
            entry = json.loads(rest)
    shutil.copy(SOURCE / "release" / "smoke.py", root / "smoke.py")
    work = f"exec python3 /smoke.py $(command -v {entry[0]})"
    for somebody in (user, "12345"):  # whom the container knows, and whom it does not
        chroot(root, somebody, environment, work)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

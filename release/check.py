"""The release checklist: all that must hold before a version is tagged and uploaded.

    python -m release.check [--quick] [--tests] [--python PYTHON]... [--dist DIR]

Builds the source archive, and the wheel from it, looks into both, installs the wheel alone and
works with it; `make release` runs it, and says at the end what is left for a person to do. With
--quick, as in CI: without what CI does anyway (a clean tree, lint, docs), nothing is kept.
Exit code: 0 if all holds, 1 with what does not.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from release import contents, smoke, versions

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
# What is tried if no Python is named: those that are there.
PYTHONS = ("python3.11", "python3.12", "python3.13", "python3.14")

LEFT = """
What is left for a person:
  1. Read CHANGELOG.md once more, as a user.
  2. git tag --annotate v{version} --message "samecam {version}" && git push origin v{version}
  3. On the repository's host: a release of that tag, with the section of CHANGELOG.md and the
     files in {dist}.
  4. {python} -m twine upload {dist}/*
     (The README's links and pictures are relative: they work at the repository's host, not on
     PyPI. Give project.urls in pyproject.toml once the address of the repository is known.)
  5. In a fresh environment: pipx install samecam=={version}; samecam --version
"""

Check = Callable[[], object]


class CheckError(Exception):
    """What does not hold."""


def command(*words: str | Path, cwd: Path = ROOT, **more: str) -> str:
    """What a command prints; an error with all of it if it fails."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**os.environ, **more},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode:
        raise CheckError(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def none_of(faults: list[str]) -> None:
    """Raise what is wrong."""
    if faults:
        raise CheckError("\n".join(faults))


def clean_tree() -> None:
    """Nothing is changed, and nothing there that git does not know."""
    none_of(command("git", "status", "--porcelain").splitlines())


def links() -> None:
    """Pictures and pages that our pages link to are there."""
    none_of([fault for page in PAGES for fault in contents.dead_links(ROOT / page)])


def build(dist: Path) -> None:
    """A source archive, and a wheel out of it: nothing that only lies in the tree gets in."""
    command(sys.executable, "-m", "build", "--outdir", dist, ROOT)
    command(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))


def look_inside(dist: Path) -> None:
    """Both archives hold what they should."""
    known = contents.tracked(ROOT)
    faults = contents.faults_of_wheel(next(dist.glob("*.whl")), known)
    none_of(faults + contents.faults_of_sdist(next(dist.glob("*.tar.gz")), known))


def install_and_work(python: str, dist: Path, scratch: Path) -> None:
    """The wheel, alone in an environment of its own, does its work away from the sources."""
    environment = scratch / f"venv-{Path(python).name}"
    command(python, "-m", "venv", environment)
    wheel = next(dist.glob("*.whl"))
    command(environment / "bin" / "pip", "install", "--quiet", wheel, cwd=scratch)
    folder = scratch / f"work-{Path(python).name}"
    folder.mkdir()
    told = smoke.smoke(environment / "bin" / "samecam", folder)
    if told != versions.version_of_code(ROOT):
        raise CheckError(f"samecam --version prints {told}.")


def by_pipx(dist: Path, scratch: Path) -> None:
    """`pipx install` of the wheel puts the command where it is found."""
    places = {"PIPX_HOME": str(scratch / "pipx"), "PIPX_BIN_DIR": str(scratch / "pipx-bin")}
    command("pipx", "install", next(dist.glob("*.whl")), cwd=scratch, **places)
    command(scratch / "pipx-bin" / "samecam", "--version", cwd=scratch)


def is_there(program: str) -> bool:
    """Whether a program starts: a name may be that of a shim with nothing behind it."""
    if shutil.which(program) is None:
        return False
    return subprocess.run([program, "--version"], capture_output=True).returncode == 0


def checks(options: argparse.Namespace, dist: Path, scratch: Path) -> list[tuple[str, Check]]:
    """The list: what is checked, in words, and by what."""
    found: list[tuple[str, Check]] = [
        ("versions and dates agree", lambda: none_of(versions.disagreements(ROOT))),
        ("pages link to what is there", links),
    ]
    if not options.quick:
        found.insert(0, ("the tree is clean", clean_tree))
        found.append(("form, types, imports", lambda: command("make", "lint")))
        if "\ndocs:" in (ROOT / "Makefile").read_text(encoding="utf-8"):
            found.append(("the documentation is built", lambda: command("make", "docs")))
    if options.tests:
        found.append(("tests, slow ones too", lambda: command("make", "test", "check")))
    found.append(("archives are built, and their metadata hold", lambda: build(dist)))
    found.append(("archives hold all that they should", lambda: look_inside(dist)))
    for python in options.python or [name for name in PYTHONS if is_there(name)]:
        work = lambda python=python: install_and_work(python, dist, scratch)  # noqa: E731
        found.append((f"the wheel works on its own, {python}", work))
    if not options.quick and is_there("pipx"):
        found.append(("pipx installs it", lambda: by_pipx(dist, scratch)))
    return found


def parse(words: Sequence[str]) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="what CI does not do anyway")
    parser.add_argument("--tests", action="store_true", help="run all tests, too")
    parser.add_argument("--python", action="append", help="one to try the wheel with; repeatable")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder for the archives")
    return parser.parse_args(words)


def main(words: Sequence[str]) -> int:
    """Check one after the other, and stop at the first that does not hold."""
    options = parse(words)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        dist = scratch / "dist"
        for what, check in checks(options, dist, scratch):
            print(f"- {what} … ", end="", flush=True)
            try:
                check()
            except (CheckError, smoke.SmokeError) as error:
                print(f"no\n{error}")
                return 1
            print("yes")
        if options.quick:
            return 0
        shutil.rmtree(options.dist, ignore_errors=True)
        shutil.copytree(dist, options.dist)
    values = {"version": versions.version_of_code(ROOT), "python": Path(sys.executable)}
    if untried := [name for name in (*PYTHONS, "pipx") if not is_there(name)]:
        print(f"Not here, and so not tried: {', '.join(untried)}.")
    print(LEFT.format(dist=options.dist, **values))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

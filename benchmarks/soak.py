"""The soak of `make long` alone: `python -m benchmarks.soak`; the tests write the figures."""

import sys

import pytest


def main() -> int:
    return int(pytest.main(["--long", "-q", "-s", "tests/soak"]))


if __name__ == "__main__":
    sys.exit(main())

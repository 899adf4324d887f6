"""`python -m samecam`."""

from samecam.cli import main

main()

"""What must hold before a version is given away: `make release`."""

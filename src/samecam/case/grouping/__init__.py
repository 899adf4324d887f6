"""Fingerprints to groups, with their evidence."""

"""Whether a case is still what it says."""

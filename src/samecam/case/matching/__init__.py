"""Single photos against the groups of a case, or against a reference camera."""

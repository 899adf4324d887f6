"""Files to fingerprints, in parallel, resumable at any moment."""

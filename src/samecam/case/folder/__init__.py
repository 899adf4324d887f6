"""What lies on disk: settings, log, tables, and the one reader of a finished case."""

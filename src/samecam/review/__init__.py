"""A case and a person: a page on this machine to look, decide and undo."""

from samecam.review._run import Review, stopped_by_signals

__all__ = ["Review", "stopped_by_signals"]

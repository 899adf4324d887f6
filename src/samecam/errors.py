"""Errors a user can cause: one sentence that says what is wrong and what to do."""

__all__ = ["SamecamError"]


class SamecamError(Exception):
    """A problem the user can mend; the message is one sentence that says how.

    The command line prints the message and exits with 1; anything that is not
    a `SamecamError` is a bug and shows its traceback.
    """

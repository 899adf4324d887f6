"""Which decisions are about which photo, kept up to date as they come."""

import threading
from collections.abc import Sequence

from samecam.case import Decision


class History:
    """Decisions by the photos they are about."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: dict[str, list[int]] = {}
        self._done = 0

    def of(self, sha256: str, decisions: Sequence[Decision]) -> list[Decision]:
        """Those about a photo, the last first."""
        with self._lock:
            if self._done > len(decisions):  # another file
                self._numbers, self._done = {}, 0
            for decision in decisions[self._done :]:
                for each in decision.photos:
                    self._numbers.setdefault(each, []).append(decision.number)
            self._done = len(decisions)
            return [decisions[k - 1] for k in reversed(self._numbers.get(sha256, []))]

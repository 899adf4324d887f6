"""What persons decided about the photos of a case, and what stands after it."""

from samecam.case.decisions._decided import Decided, DecidedCamera, read_decided
from samecam.case.decisions._deciding import ContradictionError, Deciding
from samecam.case.decisions._decision import (
    KINDS,
    Decision,
    counted,
    in_force,
    read_decisions,
)
from samecam.case.decisions._names import (
    Named,
    carry_names,
    last_base,
    names_text,
)
from samecam.case.decisions._standing import Contradiction, Standing

__all__ = [
    "KINDS",
    "Contradiction",
    "ContradictionError",
    "Decided",
    "DecidedCamera",
    "Deciding",
    "Decision",
    "Named",
    "Standing",
    "carry_names",
    "counted",
    "in_force",
    "last_base",
    "names_text",
    "read_decided",
    "read_decisions",
]

"""What persons decided about the photos of a case, and what stands after it."""

from samecam.case.decisions._decided import (
    Decided,
    DecidedCamera,
    is_stale,
    read_decided,
    resumed,
    write_decided,
)
from samecam.case.decisions._deciding import ContradictionError, Deciding
from samecam.case.decisions._decision import (
    KINDS,
    MEMBERSHIP,
    Decision,
    counted,
    in_force,
    read_decisions,
)
from samecam.case.decisions._from import decide_from, usual_examiner
from samecam.case.decisions._names import (
    Base,
    NameChanges,
    carry_names,
    labels_of_names,
    last_base,
    name_changes,
    names_entry,
    names_text,
    next_number,
    read_base,
)
from samecam.case.decisions._standing import Contradiction, Standing

__all__ = [
    "KINDS",
    "MEMBERSHIP",
    "Base",
    "Contradiction",
    "ContradictionError",
    "Decided",
    "DecidedCamera",
    "Deciding",
    "Decision",
    "NameChanges",
    "Standing",
    "carry_names",
    "counted",
    "decide_from",
    "in_force",
    "is_stale",
    "labels_of_names",
    "last_base",
    "name_changes",
    "names_entry",
    "names_text",
    "next_number",
    "read_base",
    "read_decided",
    "read_decisions",
    "resumed",
    "usual_examiner",
    "write_decided",
]

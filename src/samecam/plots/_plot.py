"""Any of the pictures, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from samecam.errors import ParameterError
from samecam.plots._comparison import comparison
from samecam.plots._correlations import correlations
from samecam.plots._evidence import evidence
from samecam.plots._groups import groups
from samecam.plots._views import views

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {
    "groups": groups,
    "correlations": correlations,
    "evidence": evidence,
    "views": views,
    "comparison": comparison,
}


def plot(given: Any, kind: str = "groups", **options: Any) -> Figure:
    """Draw a case, a result or a comparison of methods; `kind` is one of `KINDS`.

    Examples
    --------
    >>> samecam.plots.plot("CASE", "evidence").savefig("evidence.png")
    """
    if kind not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise ParameterError("kind", f"{{name}} is {kind!r}; choose one of {known}.")
    figure: Figure = KINDS[kind](given, **options)  # type: ignore[operator]
    return figure

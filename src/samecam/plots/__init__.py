"""Pictures of a case, by matplotlib: ``samecam.plots.correlations("CASE")``.

Each takes a case, its folder or a result, draws into `ax` where one is given, and gives the
figure back. ``result.plot("correlations")`` is the same.
"""

from samecam.plots._comparison import comparison
from samecam.plots._correlations import correlations
from samecam.plots._evidence import evidence
from samecam.plots._groups import groups
from samecam.plots._plot import KINDS, plot
from samecam.plots._views import views

__all__ = ["KINDS", "comparison", "correlations", "evidence", "groups", "plot", "views"]

"""How photos are grouped: the method and its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from samecam.case.folder._tuned import Tuned
from samecam.errors import ParameterError, SamecamError, as_samecam_error
from samecam.frames import Frame
from samecam.register import Search

# Parameters of the methods that the case itself sees to.
_OURS = ("metric", "memory", "n_pixels", "random_state", "device", "usual_scale")
# Methods of the paper: with its preset they leave out dark photos, as it does.
_PAPERS = ("ssc", "ssc-nc", "ls-ssc")
# Methods without options of `fit` that want the fingerprints and not their correlations alone.
_READERS = ("lin-ls",)
# How far to look for views of one camera.
SearchChoice = Search | Literal["off"]
SEARCHES: tuple[SearchChoice, ...] = ("normal", "quick", "deep", "off")


@dataclass(frozen=True, slots=True)
class ClusteringSettings:
    """Parameters of clustering; with others the fingerprints of a case are used again.

    Attributes
    ----------
    method : name of the method, see `samecam.cluster.METHODS`; "auto" is "consolidated"
    options : parameters of the method by name (`gamma`, `n_clusters`, `join_rate`, …), see
        its class; what is not given has the method's default
    seed : of everything random
    preset : "paper" gives "ssc", "ssc-nc" and "ls-ssc" the published constants where
        `options` says nothing else, and leaves dark photos (more than 75 % of the crop in
        [0, 80]) without a group; other methods take no notice of it
    tuned : parameters that were chosen on labelled photos (`samecam.case.read_tuned`), which
        become `options` where these say nothing else; for "ls-ssc", and for fingerprints as
        long as those they were chosen on
    search : how far to look for groups, and photos in none, that see one camera in several ways
        (zoomed, turned, cut, reduced): "quick", "normal" or "deep", see
        `samecam.register.find_cameras`; "off": every group is a camera. For whole frames

    Examples
    --------
    >>> samecam.ClusteringSettings()  # the default
    >>> samecam.ClusteringSettings("ssc-nc", preset="paper", seed=1)
    """

    method: str = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    preset: Literal["default", "paper"] = "default"
    tuned: Tuned | None = None
    search: SearchChoice = "normal"

    def __post_init__(self) -> None:
        if self.preset not in ("default", "paper"):
            raise SamecamError(f"preset is {self.preset!r}; choose 'default' or 'paper'.")
        if self.search not in SEARCHES:
            known = ", ".join(map(repr, SEARCHES))
            raise ParameterError("search", f"{{name}} is {self.search!r:.40}; choose {known}.")
        if not isinstance(self.seed, int) or not 0 <= self.seed < 2**63:
            raise ParameterError(
                "seed", f"{{name}} is {self.seed!r:.40}; give a whole number from 0 on."
            )
        if self.tuned is not None:
            self.tuned.check_method(self.name)
            object.__setattr__(self, "options", {**self.tuned.options, **self.options})

    @property
    def name(self) -> str:
        """The method meant."""
        return "consolidated" if self.method == "auto" else self.method

    @property
    def leaves_out_dark(self) -> bool:
        """Whether dark photos get no group."""
        return self.preset == "paper" and self.name in _PAPERS

    @property
    def reads_fingerprints(self) -> bool:
        """Whether the method wants fingerprints even where their correlations are known."""
        return self.name in _READERS

    def estimator(self, **more: Any) -> Any:
        """The estimator these settings mean, or an error that names what it does not know."""
        from samecam.cluster import METHODS

        if self.name not in METHODS:
            raise SamecamError(f"{self.name!r} is no method: choose auto, {', '.join(METHODS)}.")
        method: Callable[..., Any] = METHODS[self.name]
        known = method().get_params()
        for option in self.options:
            if option not in known or option in _OURS:
                raise ParameterError(
                    option, f"The method {self.name!r} has no option {{name}}: leave it out."
                )
        given = {**self._published(known), **self.options}
        if "random_state" in known:
            given["random_state"] = self.seed
        made = method(**given, **{name: more[name] for name in more if name in known})
        try:
            made.check_parameters()
        except ValueError as error:
            raise as_samecam_error(error) from None
        except TypeError as error:  # of an option that may be several things
            raise SamecamError(
                f"An option of the method {self.name!r} cannot be what it is ({error}): see its "
                "documentation."
            ) from None
        return made

    def _published(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """What the paper's preset changes."""
        if self.preset != "paper" or self.name not in _PAPERS:
            return {}
        return {"preset": "paper"} if "preset" in known else {"gamma": "paper"}

    def as_dict(self) -> dict[str, Any]:
        """As it stands in `case.json`; parameters from a file stand there as options."""
        return {
            "method": self.method,
            "options": dict(self.options),
            "seed": self.seed,
            "preset": self.preset,
            "search": self.search,
        }

    def check_frame(self, frame: Frame | None) -> None:
        """Refuse fingerprints of a frame that the parameters were not chosen for.

        None: which frames there are is not known yet.
        """
        if self.tuned is not None and frame is not None:
            self.tuned.check_frame(frame)

"""The `[search]` table of a recipe: the limits that a model must meet, the objective, and what is varied."""

from typing import Literal

from niwaki.core.settings import Settings, setting

Objective = Literal["bytes", "latency", "joules", "score"]
Copy = Literal["float", "int8", "4bit"]
ON = "on"  # a choice: the method takes part
OFF = "off"  # the method is left out, or the setting keeps its default


class SearchSettings(Settings):
    max_mb: float | None = setting(None, "size limit of the model on disk, in MB", gt=0)
    max_p99_ms: float | None = setting(None, "limit on the 99th percentile of the latency of one text, in ms", gt=0)
    max_joules_per_1000: float | None = setting(None, "limit on the energy of 1,000 texts, in joules", gt=0)
    min_throughput: float | None = setting(None, "least number of texts per second", gt=0)
    keep: float | None = setting(
        None,
        "share of the source's validation score to keep; default: 0.97, or none if the objective is the score",
        gt=0,
    )
    objective: Objective = setting("bytes", "what is best among models within the limits")
    minutes: float | None = setting(
        None, "time limit, over all starts of the same search; none ends with `trials`", gt=0
    )
    trials: int = setting(40, "most points that are tried", ge=1, le=10_000)
    sampler: Literal["tpe", "nsga2", "random", "grid"] = setting(
        "tpe", "how the next point is chosen; nsga2 looks for the whole Pareto front, grid tries every point to its end"
    )
    halvings: int = setting(
        2, "times that the worse half of the trials ends early: after 1/2, 1/4 … of the last training", ge=0, le=4
    )
    copies: list[Copy] = setting(["float", "int8", "4bit"], "number formats to try for every model", min_length=1)
    engines: list[str] = setting(["native", "onnx"], "engines to try for every model", min_length=1)
    space: dict[str, list[bool | int | float | str]] = setting(
        {},
        "values to try, by the path of a setting as in --set; they replace those of the methods. The path of a method has 'on' and 'off'",
    )

    @property
    def min_score_share(self) -> float:
        """The share of the source's score that must be kept; 0 for no limit."""
        return self.keep if self.keep is not None else 0.0 if self.objective == "score" else 0.97

    @property
    def limits_time(self) -> bool:
        """Whether a limit or the objective needs a timing."""
        limits = (self.max_p99_ms, self.max_joules_per_1000, self.min_throughput)
        return self.objective in ("latency", "joules") or any(limit is not None for limit in limits)

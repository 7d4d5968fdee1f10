"""What a search gives: the selected model, the limits that it misses, and every trial."""

import html
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.engines.predictor import Predictor

COLUMNS = ("trial", "status", "format", "engine", "kept", "MB", "ms", "p99 ms", "J/1000")


@dataclass(frozen=True)
class Searched:
    """A finished search. `folder` holds the selected model, `run_folder` everything else.

    >>> found = niwaki.search("my-model", "rows.csv", max_mb=10, max_p99_ms=2)
    >>> found.model.predict(["a film to see twice"])
    """

    folder: Path
    run_folder: Path
    content: Json  # of search.json

    @cached_property
    def model(self) -> Predictor:
        """The selected model in the engine in which it was measured."""
        return Predictor(self.folder, str(self.selected["engine"]))

    @property
    def selected(self) -> Json:
        found = self.content["selected"]
        if found is None:
            raise InputError(f"{self.run_folder}: the search has no finished trial; give it more minutes")
        return dict(found)

    @property
    def missed(self) -> list[str]:
        """The limits that the selected model misses, one line each; it is then the nearest model that was found."""
        return list(self.selected["missed"])

    @property
    def page(self) -> Path:
        return self.run_folder / "search.html"

    def to_json(self) -> Json:
        return {"folder": str(self.folder), "run": str(self.run_folder), **self.content}

    def table(self) -> tuple[tuple[str, ...], list[list[str]]]:
        """Column names and one row of text for each trial: its best model, or why there is none."""
        return COLUMNS, [self._row(trial) for trial in self.content["trials"]]

    def _row(self, trial: Json) -> list[str]:
        models = trial.get("variants")
        head = [str(trial["number"]), trial["status"]]
        if not models:
            share = f"{trial['part_scores'][-1]:.1%}" if trial.get("part_scores") else "-"
            return [*head, "-", "-", share, "-", "-", "-", "-"]
        one = min(models, key=lambda model: model["bytes"])
        if self.content["selected"] and trial["number"] == self.content["selected"]["trial"]:
            one, head[1] = self.content["selected"], "selected"
        joules = "-" if one["joules_per_1000"] is None else f"{one['joules_per_1000']:.3g}"
        kept = f"{one['score'] / self.content['source']['score']:.1%}"
        times = [f"{one['latency_ms']:.2f}", f"{one['p99_ms']:.2f}", joules]
        return [*head, one["format"], one["engine"], kept, f"{one['bytes'] / 1e6:.1f}", *times]

    @property
    def sentence(self) -> str:
        """The selected model in one line."""
        if self.content["selected"] is None:
            return "nothing selected, no trial was finished"
        one, test = self.selected, self.selected["test"]
        which = "the source's own copy" if one["trial"] < 0 else f"trial {one['trial']}"
        kept = "" if test["kept"] is None else f", {test['kept']:.1%} of the source's score on test rows"
        interval = "" if test["kept"] is None else f" ({test['kept_low']:.1%} to {test['kept_high']:.1%})"
        size = f"{one['bytes'] / 1e6:.1f} MB, {one['latency_ms']:.2f} ms, p99 {one['p99_ms']:.2f} ms"
        return f"{which}, {one['format']} in {one['engine']}: {size}{kept}{interval}"

    def __repr__(self) -> str:
        return f"Searched({str(self.folder)!r}: {self.sentence})"

    def _repr_html_(self) -> str:
        columns, cells = self.table()
        head, *body = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in (columns, *cells)]
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        return f"<p>{html.escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

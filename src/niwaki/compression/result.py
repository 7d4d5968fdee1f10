"""The result of a compression: the model, its figures, and every candidate that was tried."""

import contextlib
import html
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from niwaki.compression.candidates import SOURCE
from niwaki.compression.judge import Candidate
from niwaki.compression.plot import plot
from niwaki.core.errors import InputError
from niwaki.core.files import MANIFEST, commit_folder
from niwaki.core.json_types import Json
from niwaki.engines.cascade import open_predictor
from niwaki.engines.predictor import Predictor

COLUMNS = ("candidate", "score", "kept", "test", "MB", "ms", "faster", "verdict")


@dataclass(frozen=True)
class Compressed:
    """A compressed model. `score` is from the test rows; candidates were chosen by their validation scores.

    >>> result = niwaki.compress("my-model", "rows.csv")
    >>> result.model.predict(["a film to see twice"])
    """

    folder: Path
    run_folder: Path
    metric: str
    chosen: Candidate
    candidates: list[Candidate]

    @cached_property
    def model(self) -> Predictor:
        """The compressed model, loaded in the fastest engine."""
        return open_predictor(self.folder, "auto", None)

    @property
    def source(self) -> Candidate:
        return self.candidates[0]

    @property
    def score(self) -> float:
        """On the test rows; without labels, the agreement with the source model."""
        return self.chosen.test_score

    @property
    def kept(self) -> float | None:
        """Share of the source's test score."""
        return self.score / self.source.test_score if self.source.test_score > 0 else None

    @property
    def smaller(self) -> float:
        """How many times smaller than the source on disk."""
        return self.chosen.smaller

    @property
    def faster(self) -> float | None:
        """How many times the throughput of the source in plain transformers."""
        return self.chosen.faster

    def save(self, path: str | Path) -> Path:
        """Copies the model folder to `path`, which must not exist."""
        target = Path(path).expanduser()
        if target.exists():
            raise InputError(f"{target}: exists already; remove it, or choose another folder")
        with copied_model(self.folder, target):
            return target

    def to_json(self) -> Json:
        return {
            "folder": str(self.folder),
            "run": str(self.run_folder),
            "metric": self.metric,
            "chosen": self.chosen.name,
            "score": self.score,
            "kept": self.kept,
            "bytes": self.chosen.bytes,
            "smaller": self.smaller,
            "faster": self.faster,
            "candidates": [one.to_json() for one in self.candidates],
        }

    def table(self) -> tuple[Sequence[str], list[list[str]]]:
        """Column names and one row of text for each candidate."""
        return COLUMNS, [_row(one, one.name == self.chosen.name) for one in self.candidates]

    def __repr__(self) -> str:
        kept = "" if self.kept is None else f", {self.kept:.1%} of the source's"
        faster = "" if self.faster is None else f", {self.faster:.1f}x faster than transformers"
        return (
            f"Compressed({str(self.folder)!r}: {self.chosen.name}, {self.metric} {self.score:.4f}{kept}, "
            f"{self.chosen.bytes / 1e6:.1f} MB, {self.smaller:.1f}x smaller{faster})"
        )

    def _repr_html_(self) -> str:
        columns, cells = self.table()
        head, *body = ["".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in (columns, *cells)]
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        return f"<p>{html.escape(repr(self))}</p>{plot(self.metric, self.candidates, self.chosen.name)}{table}"


def _row(one: Candidate, chosen: bool) -> list[str]:
    return [
        one.name,
        f"{one.score:.4f}",
        "-" if one.kept is None else f"{one.kept:.1%}",
        f"{one.test_score:.4f}",
        f"{one.bytes / 1e6:.1f}",
        "-" if one.latency_ms is None else f"{one.latency_ms:.2f}",
        "-" if one.faster is None else f"{one.faster:.1f}x",
        _verdict(one, chosen),
    ]


def _verdict(one: Candidate, chosen: bool) -> str:
    if chosen or one.name == SOURCE:
        return "chosen" if chosen else ""
    if not one.good_enough:
        return "loses too much"
    return "good" if one.within_budget else "over budget"


@contextlib.contextmanager
def copied_model(source: Path, target: Path) -> Iterator[Path]:
    """Copies a model folder in one step, with a MANIFEST of its own. Yields the copy, for files that are to be added."""
    for leftover in target.parent.glob(f".{target.name}.tmp-*"):  # of a killed call
        shutil.rmtree(leftover, ignore_errors=True)
    with commit_folder(target) as folder:
        for path in source.iterdir():
            if path.is_dir():
                shutil.copytree(path, folder / path.name)
            elif path.name != MANIFEST:
                shutil.copyfile(path, folder / path.name)
        yield folder

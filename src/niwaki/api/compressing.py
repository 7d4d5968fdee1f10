"""Compresses a finished model in one call."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from niwaki.api.output_folder import free_target, published, run_folder
from niwaki.api.sources import model_folder
from niwaki.core.errors import UsageError

if TYPE_CHECKING:
    from niwaki.compression.judge import Found, Goal
    from niwaki.compression.result import Compressed


def compress(
    model: object,
    data: object = None,
    *,
    y: object = None,
    keep: float = 0.97,
    budget: str | Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    prefer: Literal["size", "speed"] = "size",
    out: str | Path = "compressed",
    task: str = "",
    tokenizer: object = None,
    overrides: Sequence[str] = (),
) -> "Compressed":
    """Makes a model smaller and faster, and saves it in the folder `out`.

    Tries quantized copies, then recipes that prune and distil, until a candidate keeps the share `keep` of the source's score on
    validation rows. Saves the smallest one. Raises GateMissed if there is none. An interrupted call resumes in `runs/` next to `out`.

    model: a folder, a run, a Hugging Face id, a transformers model or pipeline, a SentenceTransformer, or a Predictor
    data: rows with labels, or texts without: a path, a DataFrame, a Dataset, a list of dicts, or a list of texts (`y`: their labels);
        without labels, the score is the agreement with the source, and without data that on sample texts
    budget: limits such as "10MB", "5ms" (latency of one text), "10min" (time to try candidates)
    methods: "int8", "4bit" (quantized copies) and names of methods or recipes to try instead
    prefer: whether the smallest or the fastest good candidate is saved
    overrides: settings of the data, e.g. "data.text=review"

    >>> niwaki.compress("my-model", "rows.csv", keep=0.99)
    """
    goal = _goal(keep, budget, prefer)
    target = free_target(out)
    given = [f"task={task}", *overrides] if task else list(overrides)
    with run_folder(target, "compress") as folder:
        source = model_folder(model, folder / "source", tokenizer)
        return published(*_search(source, (data, y, given), goal, methods, folder), target)


def _search(
    source: Path, given: tuple[object, object, list[str]], goal: "Goal", methods: Sequence[str] | None, folder: Path
) -> "tuple[Found, str]":
    """The best candidate and the name of its score. `given` is data, y and overrides."""
    from niwaki.compression.embeddings import METRIC, compress_encoder
    from niwaki.compression.rows import find_rows, is_encoder, texts_in
    from niwaki.compression.search import search

    data, y, overrides = given
    if is_encoder(source):
        return compress_encoder(source, texts_in(data), goal, methods, folder), METRIC
    rows = find_rows(source, data, y, overrides, folder)
    return search(source, rows, goal, methods, folder), rows.score_name


def _goal(keep: float, budget: str | Sequence[str] | None, prefer: str) -> "Goal":
    from niwaki.compression.budget import parse_budget
    from niwaki.compression.judge import Goal

    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= 1:
        raise UsageError(f"keep: must be a share of the score, more than 0 and at most 1, e.g. 0.97 (given: {keep!r})")
    if prefer not in ("size", "speed"):
        raise UsageError(f"prefer: must be 'size' or 'speed' (given: {prefer!r})")
    return Goal(float(keep), parse_budget(budget), prefer)

"""Predicts any number of inputs in constant memory, with answers in the order of the inputs.

A separate thread reads and tokenizes the next batch of a few thousand inputs while the current one is computed. Which inputs share
a batch depends on the inputs only, so a resumed run gives the same answers as an uninterrupted one.
"""

import contextlib
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core import log
from niwaki.core.errors import InputError
from niwaki.core.files import files_below, fingerprint, sha256
from niwaki.core.json_types import Json
from niwaki.core.signals import stopping
from niwaki.engines.input_encoder import BadInputs
from niwaki.engines.input_file import InputRow, read_inputs, row_error
from niwaki.engines.input_lines import InputLines, display_name
from niwaki.engines.partial_output import PartialOutput, check_output_path, open_output
from niwaki.engines.predictor import Predictor

Answers = list[Any]
BATCH, BATCH_BYTES = 4096, 8 << 20  # inputs read at a time: enough to sort by length, little memory


@dataclass(frozen=True)
class Batch:
    """Encoded inputs that are answered together."""

    rows: list[InputRow]
    inputs: list[Any]  # of the rows without an error
    encoded: EncodedInputs
    read: str  # hash of all lines read so far
    bytes: int  # size of those lines
    whole: bool  # False if the input or the reading ended before it was full


def batches(predictor: Predictor, lines: InputLines, source: Iterator[InputRow], skip_bad: bool) -> Iterator[Batch]:
    """Batches of rows. A row with an error raises it, unless bad rows are skipped."""

    def checked(row: InputRow) -> InputRow:
        if row.error and not skip_bad:
            raise InputError(f"{row_error(lines.path, row)}; fix it, or skip bad lines with --skip-bad")
        return row

    while True:
        taken: list[InputRow] = []
        start, whole = lines.bytes, False
        for row in source:
            taken.append(checked(row))
            whole = len(taken) >= BATCH or lines.bytes - start >= BATCH_BYTES
            if whole:
                break
        if not taken:
            return
        yield Batch(*tokenize_rows(predictor, taken, checked), lines.digest, lines.bytes, whole)


def tokenize_rows(
    predictor: Predictor, taken: list[InputRow], checked: Callable[[InputRow], InputRow]
) -> tuple[list[InputRow], list[Any], EncodedInputs]:
    """The rows, the inputs of the good ones, and these encoded. A text without tokens becomes a bad row, which `checked` may
    reject."""
    good = [row for row in taken if not row.error]
    inputs = [row.input for row in good]
    try:
        return taken, inputs, predictor.tokenize(inputs)
    except BadInputs as error:
        empty = {good[number].line for number in error.numbers}
        marked = [checked(replace(row, error=error.row_error)) if row.line in empty else row for row in taken]
        return tokenize_rows(predictor, marked, checked)


def answered(predictor: Predictor, source: Iterator[Batch]) -> Generator[tuple[Batch, Answers]]:
    """Each batch with its answers; the next batch is read meanwhile."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="niwaki-read")
    try:
        coming = pool.submit(next, source, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, source, None)
            yield batch, predictor.answers(batch.inputs, batch.encoded)
    finally:
        pool.shutdown(wait=False)  # the reading thread may wait for a line until the input is closed


Compute = Callable[[Predictor, Iterator[Batch]], Generator[tuple[Batch, Answers]]]


def records(batch: Batch, answers: Sequence[Any]) -> Iterator[Json]:
    """One record for each input, in order: its id or text, and the answer or the error."""
    rest = iter(answers)
    for row in batch.rows:
        if row.error:
            yield {**row.identity, "line": row.line, "error": row.error}
        else:
            yield {**row.identity, **next(rest).record()}


def predict_file(
    predictor: Predictor,
    source: Path,
    out: Path,
    *,
    columns: Sequence[str] = (),
    skip_bad: bool = False,
    force: bool = False,
    compute: Compute = answered,
) -> Json:
    """Answers every input of a file in a file of JSON lines. If it is killed, the same call resumes. `compute` gives each batch with its
    answers, in order."""
    check_output_path(out, force, [source])
    settings = {
        "model": model_digest(predictor.folder),
        "engine": predictor.engine,
        "kind of answer": json.dumps(predictor.answer_type.to_json()),
        "column": ", ".join(columns),
        "kind of input": "".join(source.suffixes[-2:]),
        "batch": f"{BATCH} {BATCH_BYTES}",
    }
    began = time.monotonic()
    with (
        stopping() as stop,
        contextlib.closing(InputLines(source, stop)) as lines,
        open_output(out, settings, force, skip_bad) as part,
    ):
        found = read_inputs(lines, predictor.answer_type, columns)
        before = part.state.inputs
        if before:
            log.info(f"{out}: resuming after {before} inputs")
            skip_answered(lines, found, part, stop)
        computed = compute(predictor, batches(predictor, lines, found, skip_bad))
        with contextlib.closing(computed):
            _fill(computed, part, lines, stop)
        if not part.state.inputs:
            raise InputError(f"{display_name(source)}: has no inputs")
        part.finish()
    seconds = time.monotonic() - began
    return {"out": str(out), "inputs": part.state.inputs, "bad": part.state.bad, "before": before, "seconds": seconds}


def _fill(
    computed: Iterator[tuple[Batch, Answers]], part: PartialOutput, lines: InputLines, stop: Callable[[], bool]
) -> None:
    began, first = time.monotonic(), part.state.inputs
    shown = log.progress("predict, kB read", lines.size // 1000, lines.bytes // 1000) if lines.size else _no_progress()
    with shown as update:
        for batch, answers in computed:
            lines_of_batch = json_lines(records(batch, answers))
            if stop() and not batch.whole:  # more lines may belong to the batch
                part.add_incomplete(lines_of_batch)
                break
            part.add(lines_of_batch, len(batch.rows), len(batch.rows) - len(answers), batch.read)
            done = part.state.inputs
            update(batch.bytes // 1000, f"{done} inputs, {(done - first) / (time.monotonic() - began):.0f}/s")
            if stop():
                break
    if stop():
        raise KeyboardInterrupt


def _no_progress() -> contextlib.AbstractContextManager[Callable[[int, str], None]]:
    """The size of a pipe or a compressed file is not known."""
    return contextlib.nullcontext(lambda done, remark: None)


def skip_answered(lines: InputLines, found: Iterator[InputRow], part: PartialOutput, stop: Callable[[], bool]) -> None:
    """Reads the answered inputs again and checks that they are the same."""
    seen = 0
    while seen < part.state.inputs and not stop() and next(found, None) is not None:
        seen += 1
    if stop():
        raise KeyboardInterrupt
    if seen < part.state.inputs or lines.digest != part.state.read:
        raise InputError(
            f"{display_name(lines.path)}: differs from the inputs of the first {part.state.inputs} lines in {part.folder.answers}; --force starts again"
        )


def json_lines(values: Iterable[Json]) -> bytes:
    """JSON lines. A lone surrogate, which an id may contain, is escaped."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return "".join(f"{encode(value)}\n" for value in values).encode("utf-8", "backslashreplace")


def model_digest(folder: Path) -> str:
    """A digest of all files of a model, independent of its path."""
    return fingerprint([[str(path.relative_to(folder)), sha256(path)] for path in files_below(folder)])

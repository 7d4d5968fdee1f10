"""Any number of inputs through a model in flat memory, answers in the order of the inputs.

Batches of a few thousand are read and tokenized by a thread of their own while the one before is computed. Which inputs share a
batch follows from the inputs alone, so work that goes on at the end of a batch gives the same answers as work that nobody disturbed.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from niwaki.answers._answer_type import EncodedInputs
from niwaki.core import log
from niwaki.core.errors import InputError
from niwaki.core.files import files_below, fingerprint, sha256
from niwaki.core.signals import stopping
from niwaki.engines.input_encoder import NoTokens
from niwaki.engines.input_file import InputLines, InputRow, display_name, read_inputs, row_error
from niwaki.engines.partial_output import PartialOutput, check_output_path, open_output
from niwaki.engines.predictor import Predictor

BATCH, BATCH_BYTES = 4096, 8 << 20  # inputs read at once: enough to sort by length, little memory


@dataclass(frozen=True)
class Batch:
    """Inputs that are answered together, in tokens."""

    rows: list[InputRow]
    inputs: list[Any]  # of the rows that have no fault
    encoded: EncodedInputs
    read: str  # hash of all lines up to the last of these
    bytes: int  # of them
    whole: bool  # False: it ends where the input did, or where reading was given up


def batches(predictor: Predictor, lines: InputLines, source: Iterator[InputRow], skip_bad: bool) -> Iterator[Batch]:
    """Refused at the first row with a fault, unless these are passed over."""

    def sound(row: InputRow) -> InputRow:
        if row.fault and not skip_bad:
            raise InputError(f"{row_error(lines.path, row)}; mend it, or pass bad lines over with --skip-bad")
        return row

    while True:
        taken: list[InputRow] = []
        start, whole = lines.bytes, False
        for row in source:
            taken.append(sound(row))
            whole = len(taken) >= BATCH or lines.bytes - start >= BATCH_BYTES
            if whole:
                break
        if not taken:
            return
        yield Batch(*tokenize_rows(predictor, taken, sound), lines.digest, lines.bytes, whole)


def tokenize_rows(
    predictor: Predictor, taken: list[InputRow], sound: Callable[[InputRow], InputRow]
) -> tuple[list[InputRow], list[Any], EncodedInputs]:
    """The rows, the inputs of those without a fault, and these in tokens; one of which there are no tokens has that as its fault,
    and `sound` is asked whether it may."""
    good = [row for row in taken if not row.fault]
    inputs = [row.given for row in good]
    try:
        return taken, inputs, predictor.encode(inputs)
    except NoTokens as error:
        empty = {good[number].line for number in error.numbers}
        marked = [sound(replace(row, fault=error.fault)) if row.line in empty else row for row in taken]
        return tokenize_rows(predictor, marked, sound)


def answered(predictor: Predictor, source: Iterator[Batch]) -> Iterator[tuple[Batch, list[Any]]]:
    """Each batch with its answers; the next one is made meanwhile."""
    pool = ThreadPoolExecutor(1, thread_name_prefix="niwaki-read")
    try:
        coming = pool.submit(next, source, None)
        while (batch := coming.result()) is not None:
            coming = pool.submit(next, source, None)
            yield batch, predictor.answers(batch.inputs, batch.encoded)
    finally:
        pool.shutdown(wait=False)  # who reads may wait for a line until the lines are closed


def records(batch: Batch, answers: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """One for each input, in order: its id or its text, and the answer, or what is wrong with it."""
    rest = iter(answers)
    for row in batch.rows:
        if row.fault:
            yield {**row.about, "line": row.line, "error": row.fault}
        else:
            yield {**row.about, **next(rest).record()}


def predict_file(
    predictor: Predictor,
    source: Path,
    out: Path,
    *,
    columns: Sequence[str] = (),
    skip_bad: bool = False,
    force: bool = False,
) -> dict[str, Any]:
    """Answers every input of a file in a file of JSON lines, and says how many. Killed, the same call goes on where it was."""
    check_output_path(out, force, [source])
    made_by = {
        "model": model_digest(predictor.folder),
        "engine": predictor.engine,
        "column": ", ".join(columns),
        "kind of input": "".join(source.suffixes[-2:]),
        "batch": f"{BATCH} {BATCH_BYTES}",
    }
    began = time.monotonic()
    with (
        stopping() as stop,
        contextlib.closing(InputLines(source, stop)) as lines,
        open_output(out, made_by, force, skip_bad) as part,
    ):
        found = read_inputs(lines, predictor.answer_type, columns)
        before = part.state.inputs
        if before:
            log.info(f"{out}: going on after {before} inputs")
            skip_answered(lines, found, part, stop)
        _fill(predictor, part, batches(predictor, lines, found, skip_bad), lines, stop)
        if not part.state.inputs:
            raise InputError(f"{display_name(source)}: has no inputs")
        part.finish()
    seconds = time.monotonic() - began
    return {"out": str(out), "inputs": part.state.inputs, "bad": part.state.bad, "before": before, "seconds": seconds}


def _fill(
    predictor: Predictor, part: PartialOutput, source: Iterator[Batch], lines: InputLines, stop: Callable[[], bool]
) -> None:
    began, first = time.monotonic(), part.state.inputs
    shown = log.progress("predict, kB read", lines.size // 1000, lines.bytes // 1000) if lines.size else _unshown()
    with shown as update:
        for batch, answers in answered(predictor, source):
            made = written(records(batch, answers))
            if stop() and not batch.whole:  # more lines may belong to it
                part.leave(made)
                break
            part.add(made, len(batch.rows), len(batch.rows) - len(answers), batch.read)
            done = part.state.inputs
            update(batch.bytes // 1000, f"{done} inputs, {(done - first) / (time.monotonic() - began):.0f}/s")
            if stop():
                break
    if stop():
        raise KeyboardInterrupt


def _unshown() -> contextlib.AbstractContextManager[Callable[[int, str], None]]:
    """Of a pipe or a packed file it is not known how much will come."""
    return contextlib.nullcontext(lambda done, remark: None)


def skip_answered(lines: InputLines, found: Iterator[InputRow], part: PartialOutput, stop: Callable[[], bool]) -> None:
    """What is answered already is read again, so that it is known to be the same."""
    there = 0
    while there < part.state.inputs and not stop() and next(found, None) is not None:
        there += 1
    if stop():
        raise KeyboardInterrupt
    if there < part.state.inputs or lines.digest != part.state.read:
        raise InputError(
            f"{display_name(lines.path)}: is not what the first {part.state.inputs} lines in {part.folder.answers} answer; --force begins anew"
        )


def written(values: Iterable[dict[str, Any]]) -> bytes:
    """JSON lines. Half a surrogate pair, which an id may hold, is written as JSON writes it."""
    encode = json.JSONEncoder(ensure_ascii=False).encode
    return "".join(f"{encode(value)}\n" for value in values).encode("utf-8", "backslashreplace")


def model_digest(folder: Path) -> str:
    """Changes when a file of the model does, wherever it lies."""
    return fingerprint([[str(path.relative_to(folder)), sha256(path)] for path in files_below(folder)])

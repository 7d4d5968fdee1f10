"""Answers to texts that are given as words, in a file or on stdin, to the terminal or into a file: for `predict` and its like."""

import json as standard
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from niwaki.cli._print import print_result, print_text
from niwaki.core.json_types import Json

if TYPE_CHECKING:
    from niwaki.engines.predictor import Predictor

OpenModel = Callable[[], "Predictor"]


@dataclass(frozen=True)
class Request:
    """What a command was given."""

    verb: str
    texts: list[str] | None
    source: Path | None
    out: Path | None
    columns: list[str]
    skip_bad: bool
    force: bool
    json: bool
    on: str = ""  # where a file is answered


def answer(request: Request, open_model: OpenModel) -> None:
    """Checks the request, opens the model and answers."""
    from niwaki.core.errors import UsageError

    if request.texts:
        _check_no_files(request)
    _check_input(request.source)
    if request.on and request.out is None:
        raise UsageError(f"{request.verb}: --on {request.on} answers files; give --in and --out")
    if request.out is not None:
        _to_file(request, request.out, open_model)
    else:
        _to_terminal(request, open_model)


def _check_no_files(request: Request) -> None:
    from niwaki.core.errors import UsageError

    if request.source or request.out:
        raise UsageError(f"{request.verb}: give texts, or a file (--in, --out), not both")
    if request.columns or request.skip_bad or request.force:
        raise UsageError(f"{request.verb}: --column, --skip-bad and --force are for files; leave them out with texts")


def _check_input(path: Path | None) -> None:
    from niwaki.core.errors import InputError

    if path is not None and not path.is_file():
        problem = "is no plain file; give a pipe as stdin, without --in" if path.exists() else "is not there"
        raise InputError(f"{path}: {problem}")


def _to_file(request: Request, out: Path, open_model: OpenModel) -> None:
    from niwaki.api.prediction import answer_file
    from niwaki.engines.input_lines import STDIN

    done = answer_file(
        open_model,
        request.source or STDIN,
        out,
        columns=request.columns,
        skip_bad=request.skip_bad,
        force=request.force,
        on=request.on,
    )
    bad = f", {done['bad']} bad lines" if done["bad"] else ""
    print_result(done, request.json, f"{out}: {done['inputs']} answers{bad}")


def _to_terminal(request: Request, open_model: OpenModel) -> None:
    from niwaki.engines.input_file import check_columns_exist
    from niwaki.engines.input_lines import STDIN

    source = request.source or STDIN
    check_columns_exist(source, request.columns)
    predictor = open_model()
    found = (
        _of_words(predictor, request.texts)
        if request.texts
        else _of_file(predictor, source, request.columns, request.skip_bad)
    )
    _print(found, request)


def _of_words(predictor: "Predictor", texts: list[str]) -> Iterator[tuple[Json, str]]:
    """Each answer as data and as a line."""
    answers = predictor.predict([predictor.answer_type.from_line(text) for text in texts])
    for text, found in zip(texts, answers, strict=True):
        yield {"text": text, **found.record()}, f"{found.line()}\t{text}"


def _of_file(predictor: "Predictor", path: Path, columns: list[str], skip_bad: bool) -> Iterator[tuple[Json, str]]:
    from niwaki.core.signals import stopping
    from niwaki.engines.input_file import read_inputs
    from niwaki.engines.input_lines import InputLines
    from niwaki.engines.stream import answered, batches, records

    with stopping() as stop, closing(InputLines(path, stop)) as lines:
        found = batches(predictor, lines, read_inputs(lines, predictor.answer_type, columns), skip_bad)
        for batch, answers in answered(predictor, found):
            rest = iter(answers)
            for row, record in zip(batch.rows, records(batch, answers), strict=True):
                line = f"error\t{row.error}" if row.error else next(rest).line()
                about = next(iter(row.identity.values()), row.line)
                yield record, f"{line}\t{_flat(about)}"
            if stop():
                break
        if stop():
            raise KeyboardInterrupt(
                "interrupted; what was printed is all there is, with --out FILE the same command would go on from there"
            )


def _flat(about: object) -> str:
    """Several texts as `from_line` takes them, with tabs between."""
    return "\t".join(_flat(part) for part in about) if isinstance(about, tuple | list) else str(about)


def _print(predictions: Iterator[tuple[Json, str]], request: Request) -> None:
    """One after the other, as they come: as a list of JSON, or a line each."""
    from niwaki.core.errors import InputError

    between = "[\n  "
    for record, line in predictions:
        if request.json:
            print_text(between + standard.dumps(record, indent=2, ensure_ascii=False).replace("\n", "\n  "))
            between = ",\n  "
        else:
            print_text(f"{line}\n")
            between = ""
    if between == "[\n  ":
        raise InputError(f"{request.verb}: no text was given; pass texts, --in FILE, or lines on stdin")
    if request.json:
        print_text("\n]\n")

"""Answers texts: given as words, from a file of any size, or from stdin, one a line."""

import json as standard
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import typer

from niwaki.cli._print import print_result, print_text
from niwaki.core.json_types import Json

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a model or a cascade, or of a run (then the stage it says to deploy)"),
    texts: list[str] = typer.Argument(None, help="texts to answer; none reads stdin, one text a line"),
    in_: Path | None = typer.Option(
        None, "--in", help="file: jsonl, csv or tsv, packed (.gz) or not; any other holds one text a line"
    ),
    out: Path | None = typer.Option(
        None, help="answers as JSON lines into this file; killed, the same command goes on where it was"
    ),
    column: list[str] = typer.Option([], help="column of the texts, twice for a pair; none tells it by its name"),
    skip_bad: bool = typer.Option(False, "--skip-bad", help="a line that cannot be read gives an error in its place"),
    force: bool = typer.Option(False, "--force", help="write --out anew, whatever is there"),
    stage: str = typer.Option("", help="of a run: this stage's model, and not the one that its report recommends"),
    head: str = typer.Option("", help="a further head of the model, by name (`niwaki show` lists them)"),
    engine: str = typer.Option("auto", help="onnx, native or torch; auto is the fastest on this machine"),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="no progress"),
    json: bool = typer.Option(
        False, "--json", help="answer and probabilities of each as JSON; with --out, what was done"
    ),
) -> None:
    """Answer texts: given as words, from a file of any size, or from stdin, one a line.

    What an answer is depends on the model: a label, labels, a number, tags, a stretch of text, a choice, roles. Where it reads two
    texts (a pair, a question and its text, a beginning and its endings) a tab stands between them, or they are two columns.
    """
    from niwaki.core import log

    log.quiet(quiet)
    if texts:
        _check_no_files(files=bool(in_ or out), file_options=bool(column) or skip_bad or force)
    _check_input(in_)
    chosen: Json = {"engine": engine, "stage": stage, "head": head}
    if out is not None:
        _to_file(model, in_, out, json, columns=column, skip_bad=skip_bad, force=force, **chosen)
    else:
        _to_terminal(model, texts, in_, column, skip_bad, json, chosen)


def _check_no_files(files: bool, file_options: bool) -> None:
    from niwaki.core.errors import UsageError

    if files:
        raise UsageError("predict: give texts, or a file (--in, --out), not both")
    if file_options:
        raise UsageError("predict: --column, --skip-bad and --force are for files; leave them out with texts")


def _check_input(path: Path | None) -> None:
    from niwaki.core.errors import InputError

    if path is not None and not path.is_file():
        problem = "is no plain file; give a pipe as stdin, without --in" if path.exists() else "is not there"
        raise InputError(f"{path}: {problem}")


def _to_file(model: str, in_: Path | None, out: Path, json: bool, **options: Any) -> None:
    from niwaki import api
    from niwaki.engines.input_lines import STDIN

    done = api.predict_file(model, in_ or STDIN, out, **options)
    bad = f", {done['bad']} bad lines" if done["bad"] else ""
    print_result(done, json, f"{out}: {done['inputs']} answers{bad}")


def _to_terminal(
    model: str,
    texts: list[str],
    in_: Path | None,
    columns: list[str],
    skip_bad: bool,
    json: bool,
    chosen: Json,
) -> None:
    from niwaki import api
    from niwaki.engines.input_file import check_columns_exist
    from niwaki.engines.input_lines import STDIN

    check_columns_exist(in_ or STDIN, columns)
    predictor = api.load(model, **chosen)
    _print(_of_words(predictor, texts) if texts else _of_file(predictor, in_ or STDIN, columns, skip_bad), json)


def _of_words(predictor: Any, texts: list[str]) -> Iterator[tuple[Json, str]]:
    """Each answer as data and as a line."""
    answers = predictor.predict([predictor.answer_type.from_line(text) for text in texts])
    for text, answer in zip(texts, answers, strict=True):
        yield {"text": text, **answer.record()}, f"{answer.line()}\t{text}"


def _of_file(predictor: Any, path: Path, columns: list[str], skip_bad: bool) -> Iterator[tuple[Json, str]]:
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


def _print(predictions: Iterator[tuple[Json, str]], json: bool) -> None:
    """One after the other, as they come: as a list of JSON, or a line each."""
    from niwaki.core.errors import InputError

    between = "[\n  "
    for record, line in predictions:
        if json:
            print_text(between + standard.dumps(record, indent=2, ensure_ascii=False).replace("\n", "\n  "))
            between = ",\n  "
        else:
            print_text(f"{line}\n")
            between = ""
    if between == "[\n  ":
        raise InputError("predict: no text was given; pass texts, --in FILE, or lines on stdin")
    if json:
        print_text("\n]\n")

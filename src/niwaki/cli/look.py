"""Shows what a model does with one text: attention, layers, words, similar rows."""

from pathlib import Path

import typer

from niwaki.cli._options import AsJson, Column, Force, Quiet, StageName
from niwaki.cli._print import print_result

PANEL = "Use"


def command(
    model: str = typer.Argument(help="folder of a model, or of a run; an embedded name or Hugging Face id"),
    text: str = typer.Argument(help="the text; a tab stands between the texts of a pair"),
    data: str = typer.Option("", help="file of rows, e.g. the training rows; the most similar ones are shown"),
    top: int = typer.Option(5, help="rows that are shown of --data"),
    word: int = typer.Option(-1, help="of a tagging model: the word whose tag is explained, from 0; -1 chooses one"),
    out: Path = typer.Option(None, help="write an HTML page to this file; it needs no other file"),
    force: Force = False,
    column: Column = None,
    stage: StageName = "",
    head: str = typer.Option("", help="a further head of the model; 'language_model' is that of a pretrained one"),
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Show what a model does with one text: attention by layer and head, predictions of each layer, which words support the answer, similar rows.

    niwaki look MODEL "a film to see twice" --data train.csv --out page.html

    Word attributions are computed twice, by integrated gradients and by leaving each word out. What cannot be shown of a model is named with
    the reason.
    """
    from niwaki import api
    from niwaki.core import log
    from niwaki.core.files import write_text
    from niwaki.engines.partial_output import check_output_path

    log.quiet(quiet)
    if out:
        check_output_path(out, force, [Path(data)] if data else [])
    found = api.look(
        model, text, data=data, top=top, word=word, columns=column or [], stage=stage, head=head, from_line=True
    )
    if out:
        write_text(out, found.page())
        log.info(f"{out}: written")
    print_result(found.to_json(), json, found.summary())

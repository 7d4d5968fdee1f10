"""Adds the head of a trained model to a folder with the same encoder."""

import typer

from niwaki.cli._options import AsJson, StageName
from niwaki.cli._print import print_result

PANEL = "Use"


def command(
    trunk: str = typer.Argument(help="folder of the model whose encoder is shared"),
    model: str = typer.Argument(help="folder of the tuned model, or of a run (then the stage it says to deploy)"),
    name: str = typer.Option("", help="name of the head; by default that of the model's folder or run"),
    stage: StageName = "",
    json: AsJson = False,
) -> None:
    """Store the head of a tuned model, and its delta, next to the encoder that it was tuned from.

    The encoders must be equal: tune with `freeze`, or with lora, ia3, adapters, bitfit, prompts or prefixes and merge = false.

    niwaki add encoder runs/topics --name topics && niwaki predict encoder "a text" --heads all
    """
    from niwaki import api
    from niwaki.core.files import folder_bytes
    from niwaki.core.head_folder import head_names
    from niwaki.run.model_path import model_path

    source = model_path(model, stage, single=True)
    home = api.add_head(trunk, source, name or api.head_name(model))
    heads = head_names(home.parent.parent)
    size = folder_bytes(home)
    line = f"{home}: {size / 1e6:.1f} MB; {trunk} has the heads {', '.join(heads)}"
    print_result({"head": home.name, "folder": str(home), "bytes": size, "heads": heads}, json, line)

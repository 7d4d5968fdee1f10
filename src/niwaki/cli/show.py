"""Shows one thing: the settings of a method, task or recipe, the shape of a model, the stages of a run, what a model's parts are worth."""

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Inspect"


def command(
    what: str = typer.Argument(help="a method, task or recipe by name, a model's or a run's folder, or 'sensitivity'"),
    of: str = typer.Argument("", help="with 'sensitivity': folder of a model, or of a run"),
    task: str = typer.Option(
        "", help="with 'sensitivity': the task the model was made for; none takes rotten_tomatoes"
    ),
    data: str = typer.Option("", help="with 'sensitivity': your rows"),
    rows: int = typer.Option(64, min=1, help="with 'sensitivity': validation rows that are run for each cut"),
    set_: list[str] = typer.Option([], "--set", help="with 'sensitivity': change a setting of the data"),
    json: AsJson = False,
) -> None:
    """Show one thing: the settings of a method, task or recipe, the shape of a model, the stages of a run.

    `niwaki show sensitivity MODEL` measures what each layer, head and matrix of a model is worth, before you cut.
    """
    if what == "sensitivity":
        from niwaki import api
        from niwaki.core.errors import UsageError

        if not of:
            raise UsageError("show sensitivity: name the folder of a model or run: `niwaki show sensitivity runs/mine`")
        found = api.sensitivity(of, task=task, data=data, overrides=set_, rows=rows)
        return print_result(found, json, sensitivity_table(found))
    from niwaki.describe import show

    value, text = show(what)
    print_result(value, json, text)


def sensitivity_table(found: Json) -> str:
    """Layers and heads by how much the loss misses them, most first; matrices with a column for each way of cutting."""
    lines = [
        f"{found['model']}: loss {found['loss']:.4f} on {found['rows']} validation rows of {found['task']}; more by:"
    ]
    for kind in ("layer", "head"):
        cuts = sorted((cut for cut in found["cuts"] if cut["kind"] == kind), key=lambda cut: -cut["more"])
        rows = [{kind: cut["what"], "without it": amount(cut)} for cut in cuts]
        if rows:
            lines += ["", table(rows, [kind, "without it"])]
    matrices: dict[str, dict[str, str]] = {}
    for cut in found["cuts"]:
        if cut["kind"] == "matrix":
            matrices.setdefault(cut["what"], {"matrix": cut["what"]})[cut["how"]] = amount(cut)
    every = list(matrices.values())
    return "\n".join([*lines, "", table(every, list(every[0]))]) if every else "\n".join(lines)


def amount(cut: Json) -> str:
    return f"{cut['more']:+.4f}" + (f" ± {cut['error']:.4f}" if cut["error"] is not None else "")

"""Shows one thing: the settings of a method, task or recipe, the shape of a model, the stages of a run, what a model's parts are worth or cost."""

import typer

from niwaki.cli._options import AsJson
from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Inspect"


def command(
    what: str = typer.Argument(
        help="a method, task or recipe by name, a model's or a run's folder, 'sensitivity' or 'cost'"
    ),
    of: str = typer.Argument("", help="with 'sensitivity' and 'cost': folder of a model, or of a run"),
    task: str = typer.Option(
        "", help="with 'sensitivity': the task the model was made for; none takes rotten_tomatoes"
    ),
    data: str = typer.Option("", help="with 'sensitivity': your rows"),
    rows: int = typer.Option(64, min=1, help="with 'sensitivity': validation rows that are run for each cut"),
    set_: list[str] = typer.Option([], "--set", help="with 'sensitivity': change a setting of the data"),
    lengths: list[int] = typer.Option([], min=2, help="with 'cost': tokens of a text; repeat it for several"),
    compare: bool = typer.Option(True, help="with 'cost': time cheaper kinds of attention too"),
    json: AsJson = False,
) -> None:
    """Show one thing: the settings of a method, task or recipe, the shape of a model, the stages of a run.

    `niwaki show sensitivity MODEL` measures what each layer, head and matrix of a model is worth, before you cut.
    `niwaki show cost MODEL` measures operations, bytes and time by length and part, and from which length cheaper attention pays.
    """
    if what in ("sensitivity", "cost"):
        from niwaki import api
        from niwaki.core.errors import UsageError

        if not of:
            raise UsageError(f"show {what}: name the folder of a model or run: `niwaki show {what} runs/mine`")
        if what == "cost":
            given = {"lengths": lengths} if lengths else {}
            found = api.cost(of, compare=compare, **given)
            return print_result(found, json, cost_table(found))
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


def cost_table(found: Json) -> str:
    """A table of parts by length, and one of conversions."""
    weights = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in found["bytes"].items())
    lines = [f"{found['model']}: {found['layers']} layers; weights: {weights}", ""]
    rows = []
    for length in found["lengths"]:
        for name, part in length["parts"].items():
            own = {"operations": f"{part['operations'] / 1e6:.1f} M", "torch": milliseconds(part["seconds"])}
            rows.append({"tokens": f"{length['tokens']:,}", "part": name, **own})
    lines.append(table(rows, list(rows[0])))
    if "conversions" in found:
        timed = [
            {
                "attention": one["name"],
                **{f"{int(length):,} tokens": milliseconds(spent) for length, spent in one["seconds"].items()},
                "faster from": break_even_of(one),
            }
            for one in found["conversions"]
        ]
        lines += ["", "One text in ONNX Runtime with one thread, by kind of attention in all layers:"]
        lines += ["", table(timed, list(timed[0])), *(f"  {name}: {why}" for name, why in found["rejected"].items())]
    return "\n".join(lines)


def break_even_of(conversion: Json) -> str:
    if conversion["name"] == "unchanged":
        return ""
    found = conversion["break_even"]
    return "not at these lengths" if found is None else f"{found:,} tokens"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.2f} ms"

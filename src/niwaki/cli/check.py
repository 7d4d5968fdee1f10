"""Checks a recipe, fills in every default, estimates time and disk. Does no work."""

from collections.abc import Sequence

import typer

from niwaki.cli._print import print_result, table
from niwaki.core.json_types import Json

PANEL = "Compress"
SHOWN_ROWS, SHOWN_CHARACTERS = 10, 60


def command(
    recipe: str = typer.Argument(
        "", help="a shipped recipe or a .toml file; none is the example, or with --data 'own_data'", show_default=False
    ),
    set_: list[str] = typer.Option([], "--set", help="change a setting: stages.student.train.epochs=1"),
    data: str = typer.Option("", help="your own rows: csv, tsv, jsonl, parquet, or a folder"),
    labels: bool = typer.Option(
        False, "--labels", help="also estimate how many training labels are wrong, and list suspicious rows"
    ),
    json: bool = typer.Option(False, "--json", help="print the whole plan"),
) -> None:
    """Check a recipe, fill in every default, estimate time and disk. Does no work."""
    from niwaki import api

    plan = api.check(recipe, overrides=set_, data=data, labels=labels)
    rows = [
        {**stage, "does": ", ".join(method["use"] for method in stage["methods"]) or "-"}
        for stage in plan["estimate"]["stages"]
    ]
    text = table(rows, ["name", "does", "steps", "cpu_seconds", "megabytes"])
    noise = f"{noise_text(plan['label_noise'])}\n" if labels else ""
    print_result(plan, json, f"{noise}{text}\n{summary(plan['estimate'])}")


def noise_text(found: Json) -> str:
    """The estimate of wrong labels, and the rows that are most probably wrong."""
    model, rows = found["model"], found["suspects"][:SHOWN_ROWS]
    weak = "" if found["reliable"] else "; the model explains too little for a reliable estimate"
    lines = [
        f"estimated label noise: {100 * found['noise']:.1f} % of {found['rows']} train rows "
        f"(linear model on {model['features']}: accuracy {model['accuracy']:.3f}, majority class {model['majority']:.3f}){weak}"
    ]
    if rows:
        lines.append(f"{len(found['suspects'])} rows probably have another label (--json lists all), first:")
        shown = [{**row, "probability": f"{row['probability']:.2f}", "input": short(row["input"])} for row in rows]
        lines.append(table(shown, ["label", "suggested", "probability", "input"]))
    return "\n".join(lines) + "\n"


def short(given: str | Sequence[str]) -> str:
    """The beginning of a text or of a pair of texts, in one line."""
    whole = given if isinstance(given, str) else " | ".join(given)
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in whole).split())
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"


def summary(total: Json) -> str:
    """Time and disk in one line."""
    (low, high), (first, last) = total["cpu_seconds_range"], total["seconds_range"]
    cores = f"{total['cores']} core{'s' if total['cores'] > 1 else ''}"
    busy = f", which are busy now (load {total['load']:.1f})" if total["load"] > total["cores"] / 4 else ""
    megabytes = total["teachers_megabytes"]
    teachers = f", at most {megabytes:.0f} MB more for what teachers show (cache.gigabytes)" if round(megabytes) else ""
    return (
        f"fine; {span(low, high)} of CPU time with baselines and race, so {span(first, last)} on {cores}{busy}; "
        f"{total['megabytes']:.0f} MB{teachers}"
    )


def span(low: float, high: float) -> str:
    """`40 to 90 s`, or in minutes or hours where that is shorter."""
    for unit, seconds in (("s", 1), ("min", 60), ("h", 3600)):
        if high < 120 * seconds or unit == "h":
            break
    return (
        f"{low / seconds:.2g} to {high / seconds:.2g} {unit}"
        if high < 10 * seconds
        else f"{low / seconds:.0f} to {high / seconds:.0f} {unit}"
    )

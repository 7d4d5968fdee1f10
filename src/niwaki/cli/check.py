"""Checks a recipe, fills in every default, estimates time and disk. Does no work."""

import typer

from niwaki.cli._print import give, table


def command(
    recipe: str = typer.Argument(
        "", help="a shipped recipe or a .toml file; none is the example, or with --data 'own'", show_default=False
    ),
    set_: list[str] = typer.Option([], "--set", help="change a setting: stages.student.train.epochs=1"),
    data: str = typer.Option("", help="your own rows: csv, tsv, jsonl, parquet, or a folder"),
    json: bool = typer.Option(False, "--json", help="print the whole plan"),
) -> None:
    """Check a recipe, fill in every default, estimate time and disk. Does no work."""
    from niwaki import api

    plan = api.check(recipe, overrides=set_, data=data)
    rows = [
        {**stage, "does": ", ".join(method["use"] for method in stage["methods"]) or "-"}
        for stage in plan["estimate"]["stages"]
    ]
    total = plan["estimate"]
    text = table(rows, ["name", "does", "steps", "seconds", "megabytes"])
    kept = total["teachers_megabytes"]
    teachers = f", at most {kept:.0f} MB more for what teachers show (cache.gigabytes)" if round(kept) else ""
    said = f"fine; about {total['seconds']:.0f} s (half to twice that) and {total['megabytes']:.0f} MB{teachers}"
    give(plan, json, f"{text}\n{said}")

"""Prints the energy label of a model or a run: a letter, or the fields of CodeCarbon, model cards, AI Energy Score or SCI."""

from pathlib import Path

import typer

from niwaki.cli._print import print_result

PANEL = "Measure"


def command(
    model: str = typer.Argument(help="folder of a run (then the stage it says to deploy), or of a model"),
    format: str = typer.Option("letter", help="letter, svg, codecarbon, hf, aies or sci"),
    stage: str = typer.Option("", help="stage of the run"),
    place: str = typer.Option("", help="country or grid zone of the electricity, or grams of CO2e per kWh"),
    pue: str = typer.Option("", help="overhead of the data centre: a number, or a name of the table"),
    embodied_kg: float | None = typer.Option(None, help="sci: CO2e of making the machine, in kg"),
    lifetime_years: float | None = typer.Option(None, help="sci: years that the machine is used"),
    share: float = typer.Option(1.0, min=0.0, max=1.0, help="sci: share of the machine that is reserved"),
    out: Path | None = typer.Option(None, help="file to write instead of stdout"),
    json: bool = typer.Option(False, "--json", help="the fields as JSON"),
) -> None:
    """Print the energy label of a model or a run.

    Figures of a run are those that it measured. A model outside of a run is measured now, on embedded sentences.
    """
    from niwaki.api.labelling import label
    from niwaki.core.files import write_json, write_text

    fields, text = label(
        model,
        format,
        stage=stage,
        place=place,
        pue=pue or None,
        embodied_kg=embodied_kg,
        lifetime_years=lifetime_years,
        share=share,
    )
    if out is None:
        print_result(fields, json, text)
    elif json:
        write_json(out, fields)
    else:
        write_text(out, text + "\n")

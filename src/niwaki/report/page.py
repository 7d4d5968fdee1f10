"""The report as one HTML file: no remote assets, everything escaped, script and style allowed by their hashes only."""

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from niwaki.core.json_types import Json
from niwaki.report import formatting, page_plots
from niwaki.report.baseline_rows import baseline_table
from niwaki.report.headline import headline
from niwaki.report.savings import savings
from niwaki.report.scores import subset_names, subset_scores
from niwaki.report.transformer_need import answer
from niwaki.report.worth import deployed_label

UNITS = re.compile(r"(?<=\d) (?=(?:%|[kMGT]?(?:B|J|FLOP)|[kMGT]|m?J|m?s|min|texts/s|±)(?![\w/]))|(?<=±) |(?<=%) (?=±)")
TEMPLATES = Path(__file__).parent / "templates"
NUMBER_FILTERS = (
    *(formatting.carbon, formatting.duration, formatting.energy, formatting.energy_range, formatting.energy_with_range),
    *(
        formatting.megabytes,
        formatting.milliseconds,
        formatting.money,
        formatting.rate,
        formatting.ratio,
        formatting.scaled,
        formatting.share,
        formatting.times,
    ),
)


def page(facts: Json) -> str:
    """The content of report.html from the facts of a run with their verdict."""
    style, script = asset("page.css"), asset("page.js")
    label = deployed_label(facts)
    return (
        environment(html=True)
        .get_template("page.html.j2")
        .render(
            run=facts,
            headline=headline(facts),
            models=with_copies(facts["stages"]),
            baseline_rows=baseline_table(facts),
            savings=savings(facts),
            style=Markup(style),
            script=Markup(script),
            policy=policy(style, script),
            label=Markup(label.svg()) if label else None,
            energy_plot=page_plots.against_energy(facts),
            latency_plot=page_plots.against_latency(facts),
            test_sets_plot=page_plots.by_test_set(facts),
            curves=page_plots.curves(facts),
        )
    )


def with_copies(stages: list[Json]) -> list[Json]:
    """The stages in the order of the recipe, each followed by its quantized copies."""
    copies = [stage for stage in stages if stage.get("copy_of")]
    named = {stage["name"] for stage in stages if not stage.get("copy_of")}
    lost = [copy for copy in copies if copy["copy_of"] not in named]
    own = [stage for stage in stages if not stage.get("copy_of")]
    return [row for stage in own for row in (stage, *(c for c in copies if c["copy_of"] == stage["name"]))] + lost


@cache
def environment(html: bool) -> Environment:
    """Jinja templates with the number formats as filters. An undefined name is an error, not an empty string."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    templates.filters.update({function.__name__: function for function in NUMBER_FILTERS})
    templates.filters["bound"] = lambda text: str(text).replace(" %", "\u00a0%")  # no line break before the sign
    templates.filters.update(units=units, subset_names=subset_names, subset_scores=subset_scores)
    templates.filters["scored"] = lambda row, metric: formatting.scored(metric, row)
    templates.filters["with_interval"] = lambda row, metric: formatting.score_with_interval(metric, row)
    templates.globals.update(
        answer=answer,
        difference=formatting.difference,
        interval=formatting.interval,
        ratio_range=formatting.ratio_range,
    )
    return templates


def units(text: object) -> str:
    """A figure with no line break between the number and its unit."""
    return UNITS.sub("\u00a0", str(text))


def policy(style: str, script: str) -> str:
    """The content security policy: allows only this style and this script."""
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")

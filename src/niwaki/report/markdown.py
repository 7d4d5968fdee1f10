"""The facts as markdown, for a pull request or a README: the same order as the page, without plots."""

import re

from niwaki.core.json_types import Json
from niwaki.report.baseline_rows import baseline_table
from niwaki.report.headline import headline
from niwaki.report.page import environment
from niwaki.report.savings import savings

SPECIAL = re.compile(r"([\\`*_{}\[\]<>#!|~$&])")


def plain(value: object) -> str:
    """Text from a file, so that it can neither format, link, break a table nor become HTML."""
    return SPECIAL.sub(r"\\\1", " ".join(str(value).split())).replace("://", ":\\//")


def fenced(value: str) -> str:
    """A code block whose fence is longer than any inside it."""
    longest = max((len(run) for run in re.findall("`+", value)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{value.rstrip()}\n{fence}"


def markdown(facts: Json) -> str:
    """The content of report.md from the facts of a run with their verdict."""
    templates = environment(html=False)
    templates.filters.update(plain=plain, fenced=fenced)
    template = templates.get_template("report.md.j2")
    return template.render(
        run=facts, headline=headline(facts), baseline_rows=baseline_table(facts), savings=savings(facts)
    )

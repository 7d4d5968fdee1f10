"""Renders results pages, recipe figures and the table in README.md from the records in results/*.jsonl: `make results`.

A file render_<topic>.py with a PAGE becomes a page and a line of the summary.
"""

import importlib
from pathlib import Path

import render_readme
import render_recipes
from results_page import GROUPS, Page

HERE = Path(__file__).parent
ROOT = HERE.parent
SUMMARY = "docs/results.md"
HEAD = """# Results

`make results` renders this page and those it links to from the records in `benchmarks/results/`, which the commands listed there append. A target is a
value that was set before the measurement. Speeds are compared only within one interleaved run, because absolute speeds vary with the load of the machine.
Everything was measured on a virtual machine with two AMD vCPUs; the pages name processor, versions and commit.
"""


def main() -> None:
    for name, text in files().items():
        path = ROOT / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Every rendered file by its path in the repository."""
    found = {f"docs/results/{page.slug}.md": page.render() for page in pages()}
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return {SUMMARY: summary(), **found, **render_recipes.files(), **render_readme.files(readme)}


def pages() -> list[Page]:
    """The pages of all render modules that have records, by group and title."""
    modules = [importlib.import_module(path.stem) for path in sorted(HERE.glob("render_*.py"))]
    found = [module.PAGE for module in modules if hasattr(module, "PAGE") and module.PAGE.has_records()]
    return sorted(found, key=lambda page: (GROUPS.index(page.group), page.title))


def summary() -> str:
    parts = [HEAD]
    for group in GROUPS:
        lines = [
            f"| [{page.title}](results/{page.slug}.md) | {page.headline()} |" for page in pages() if page.group == group
        ]
        parts.append("\n".join([f"## {group}", "", "| topic | main result |", "|---|---|", *lines, ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    main()

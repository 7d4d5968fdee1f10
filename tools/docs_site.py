"""Hooks of mkdocs: adds pages that are generated from the code, the results pages, and the Markdown files of the repository's root."""

import re
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pydantic import BaseModel

import niwaki
from niwaki import api
from niwaki.cli._app import VERBS, program
from niwaki.describe import show_settings
from niwaki.engines.predictor import Predictor
from niwaki.listing import catalogs, rows_of
from niwaki.run.recipe_settings import CacheSettings, MeterSettings, Recipe, Stage
from niwaki.train.settings import TrainSettings

ROOT = Path(__file__).parents[1]
ROOT_FILES = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
RECIPE_PARTS = {
    "Top level": Recipe,
    "Stages": Stage,
    "train": TrainSettings,
    "cache": CacheSettings,
    "meter": MeterSettings,
}
WIDTH = 100  # of help texts


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Completes the navigation: reference pages, notebooks, one entry per results page, and the files of the root."""
    nav = {title: pages for section in config.nav or [] for title, pages in section.items()}
    nav["Tutorials"] += sorted(f"notebooks/{path.stem}.md" for path in notebooks())
    nav["Reference"] = [*reference_pages(), *nav["Reference"]]
    nav["How-to guides"] += unlisted(nav)
    nav["Results"] += sorted(f"results/{path.name}" for path in (ROOT / "docs" / "results").glob("*.md"))
    config.nav = [*({title: pages} for title, pages in nav.items()), {"About": list(ROOT_FILES)}]
    return config


def unlisted(nav: dict[str, Any]) -> list[str]:
    """Pages of docs/ that mkdocs.yml does not name."""
    listed = {page for pages in nav.values() for page in ([pages] if isinstance(pages, str) else pages)}
    return sorted({path.name for path in (ROOT / "docs").glob("*.md")} - listed)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    pages = {**reference_pages(), **{f"notebooks/{path.stem}.md": notebook_page(path) for path in notebooks()}}
    for name in ROOT_FILES:
        pages[name] = (
            (ROOT / name).read_text(encoding="utf-8").replace("](docs/", "](").replace("](README.md", "](index.md")
        )
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links from docs/ to files of the root lead to their copies in the site."""
    return re.sub(rf"\]\(\.\./({'|'.join(map(re.escape, ROOT_FILES))})", r"](\1", markdown)


@cache
def reference_pages() -> dict[str, str]:
    kinds = {kind: catalog_page(kind) for kind in sorted(catalogs()) if kind not in ("methods", "tasks")}
    return {
        "reference/python.md": python_page(),
        "reference/cli.md": cli_page(),
        "reference/recipe.md": recipe_page(),
        "reference/methods.md": settings_page("methods"),
        "reference/tasks.md": settings_page("tasks"),
        "reference/catalogues.md": "\n\n".join(["# Families, engines and other catalogues", *kinds.values()]),
    }


def python_page() -> str:
    """The names of `niwaki`, what they return, and the functions that only `niwaki.api` has."""
    main = [name for name in niwaki.__all__ if not name.startswith("_")]
    more = [name for name in api.__all__ if name not in main and callable(getattr(api, name))]
    return "\n\n".join(
        [
            "# Python API",
            "The first names are attributes of `niwaki`.",
            *(f"::: {location(getattr(niwaki, name))}" for name in main),
            f"::: {location(Predictor)}",
            "The following names are attributes of `niwaki.api`.",
            *(f"::: {location(getattr(api, name))}" for name in more),
        ]
    )


def location(value: Any) -> str:
    """Where a function or class is defined. The packages niwaki.run and niwaki.meter are callable like the functions of that name."""
    if isinstance(value, ModuleType):
        name = value.__name__.rpartition(".")[2]
        value = getattr(api, name, None) or getattr(value, name)
    return f"{value.__module__}.{value.__qualname__}"


def cli_page() -> str:
    group = program()
    parts = ["# Command line", "Every command takes `--json`. Data goes to stdout, progress to stderr."]
    for verb in VERBS.names():
        command = group.get_command(typer.Context(group), verb)
        assert command is not None
        text = command.get_help(typer.Context(command, info_name=f"niwaki {verb}", terminal_width=WIDTH))
        parts.append(f"## niwaki {verb}\n\n```text\n{text}\n```")
    return "\n\n".join(parts)


def recipe_page() -> str:
    parts = ["# Recipe settings", "[Recipe gallery](../recipes.md) shows complete recipes."]
    for title, settings in RECIPE_PARTS.items():
        parts.append(f"## {title}\n\n{settings_table(fields_of(settings))}")
    return "\n\n".join(parts)


def fields_of(settings: type[BaseModel]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "type": type_name(field.annotation),
            "default": "required" if field.is_required() else field.get_default(),
            "remark": field.description,
        }
        for name, field in settings.model_fields.items()
    ]


def type_name(annotation: Any) -> str:
    return re.sub(r"(\w+\.)+|<class '|'>", "", str(annotation))


def settings_table(fields: list[dict[str, Any]]) -> str:
    if not fields:
        return "No settings."
    lines = [
        f"| `{field['name']}` | {cell(type_name(field['type']))} | {default_cell(field['default'])} | {cell(field['remark'])} |"
        for field in fields
    ]
    return "\n".join(["| setting | type | default | meaning |", "|---|---|---|---|", *lines])


def cell(value: Any) -> str:
    return str(value or "").replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def default_cell(value: Any) -> str:
    return "own table" if isinstance(value, BaseModel) else f"`{cell(repr(value)) if value != 'required' else value}`"


def settings_page(kind: str) -> str:
    """Every entry with its docstring and settings, by family."""
    parts, family = [f"# {kind.capitalize()}"], ""
    for row in rows_of(kind):
        if row["family"] != family and kind == "methods":
            family = row["family"]
            parts.append(f"## {family}")
        value, _ = show_settings(kind, row["name"])
        first, _, rest = value["doc"].partition("\n")
        text = f"\n\n```text\n{rest.strip()}\n```" if rest.strip() else ""
        parts.append(f"### {row['name']}\n\n{first}{text}\n\n{settings_table(value['settings'])}")
    return "\n\n".join(parts)


def catalog_page(kind: str) -> str:
    lines = [f"| `{row['name']}` | {cell(row['description'])} |" for row in rows_of(kind)]
    return "\n".join([f"## {kind}", "", "| name | description |", "|---|---|", *lines])


def notebooks() -> list[Path]:
    return sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def notebook_page(path: Path) -> str:
    """The cells of a notebook as Markdown; outputs are not stored."""
    import nbformat

    parts = [
        cell.source if cell.cell_type == "markdown" else f"```python\n{cell.source}\n```"
        for cell in nbformat.read(path, as_version=4).cells
    ]
    return "\n\n".join(parts) + f"\n\nDownload this page as a notebook: [{path.name}]({path.name})."

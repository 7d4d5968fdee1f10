"""Writes a model card next to each finished model: what it is, how it was made, its scores and running costs."""

from pathlib import Path

from niwaki.core.files import write_text
from niwaki.core.json_types import Json
from niwaki.report.baseline_rows import lineage
from niwaki.report.hub_metadata import metadata, yaml_lines
from niwaki.report.markdown import fenced, plain
from niwaki.report.page import environment
from niwaki.report.worth import label_of

EXAMPLES = {  # answer type → example input
    "tags": '["Ada Lovelace was born in London"]',
    "senses": '["She sat on the bank of the river"]',
    "roles": '["Ada Lovelace wrote the first program"]',
    "span": '[("Where was she born?", "Ada Lovelace was born in London.")]',
    "image_label": '["image.png"]',
    "image_caption": '["image.png"]',
    "verified": '["mul pos 2 x"]',
    "choice": '[("She opens the door and", ["goes in.", "the door."])]',
}
CARD, LABEL = "README.md", "energy-label.svg"
Facts = Json


def write_cards(report: Facts, run_folder: Path) -> None:
    """Cards are made from the report, so they come after a stage's files and are not in its MANIFEST."""
    for stage in report["stages"]:
        folder = run_folder / stage["folder"] / "model" if stage["finished"] and stage["folder"] else None
        if folder is None or not folder.is_dir():
            continue
        picture = label_of(report, stage)
        if picture is not None:
            write_text(folder / LABEL, picture.svg())
        write_text(folder / CARD, card(report, stage, has_label=picture is not None))


def card(report: Facts, stage: Facts, has_label: bool) -> str:
    """Markdown with the metadata block of model hubs; all texts are escaped."""
    templates = environment(html=False)
    templates.filters.update(plain=plain, fenced=fenced)
    methods = [method for name in lineage(report, stage["name"]) for method in name["methods"]]
    return templates.get_template("card.md.j2").render(
        run=report,
        stage=stage,
        methods=methods,
        label=LABEL if has_label else None,
        metadata="\n".join(yaml_lines(metadata(report, stage, methods))),
        example=EXAMPLES.get(report["task"]["answer"], '["…"]'),
    )

"""Model cards: metadata that can be read, figures of the report, nothing hostile let through."""

import re
from pathlib import Path

import pytest
import yaml

from niwaki import report
from niwaki.core import files
from niwaki.report.baseline_rows import lineage
from niwaki.report.card import CARD, LABEL

from .runs import change, make_full, make_run
from .test_page import spoil


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = make_run(tmp_path / "demo")
    for stage in folder.glob("stages/*"):
        (stage / "model").mkdir()
    return folder


def cards(run: Path) -> dict[str, str]:
    return {path.parts[-3].split("-")[0]: path.read_text() for path in run.glob(f"stages/*/model/{CARD}")}


def test_every_model_has_a_card_and_a_label(run: Path) -> None:
    result = report.write(run)
    found = cards(run)
    assert set(found) == {"teacher", "student", "pruned", "int8"}
    head = yaml.safe_load(found["int8"].split("---")[1])
    assert head["base_model"] == "sentence-transformers/all-MiniLM-L6-v2" and head["library_name"] == "niwaki"
    metric = head["model-index"][0]["results"][0]["metrics"][0]
    assert metric == {"type": "accuracy", "value": result["stages"][-1]["score"]}
    assert "negative, positive" in found["int8"] and "6397 training rows" in found["int8"]
    assert f"]({LABEL})" in found["int8"] and "<svg" in next(run.glob(f"stages/int8-*/model/{LABEL}")).read_text()


def test_card_lists_the_stages_of_the_model(run: Path) -> None:
    names = [stage["name"] for stage in lineage(report.write(run), "int8")]
    assert names == ["teacher", "student", "pruned", "int8"]
    assert cards(run)["int8"].count("\n1. ") > cards(run)["student"].count("\n1. ") > 0


def test_hostile_words_neither_break_the_metadata_nor_become_markup(run: Path) -> None:
    spoil(run, '"\n---\n<script>alert(1)</script> ](http://evil) | `x`')
    report.write(run)
    for text in cards(run).values():
        head, body = text.split("\n---\n", 1)
        assert set(yaml.safe_load(head.removeprefix("---\n"))) <= {
            "library_name",
            "pipeline_tag",
            "model-index",
            "tags",
        }
        assert not re.search(r"(?<!\\)(<script|\]\(http)", body)  # markdown shows what a backslash stands before


def test_without_energy_no_label(tmp_path: Path) -> None:
    run = make_run(tmp_path / "demo", energy=False)
    next(run.glob("stages/int8-*")).joinpath("model").mkdir()
    report.write(run)
    assert LABEL not in cards(run)["int8"]


def test_card_contains_the_score_over_seeds(tmp_path: Path) -> None:
    run = make_full(tmp_path / "demo")
    next(run.glob("stages/int8-????????????")).joinpath("model").mkdir()
    report.write(run)
    text = cards(run)["int8"]
    head = yaml.safe_load(text.split("---")[1])
    metric = head["model-index"][0]["results"][0]["metrics"][0]
    assert metric == {"type": "accuracy", "value": 0.8205}, "of this model, not of its repeats"
    assert "| accuracy on 1066 test rows | 82.3 % ± 0.3 (3 seeds) (" in text
    assert "| this model, of seed 13 | 82.0 % |" in text
    assert "| accuracy on mismatched | 80.0 % (76.5–83.5 %) |" in text
    assert "The test labels are not public." in text
    assert "\nDo you need a transformer here? Yes: teacher, the best stage, scores 83.9 % ± 0.3 (3 seeds)," in text


@pytest.mark.parametrize(
    ("answer", "tag"),
    [("tags", "token-classification"), ("span", "question-answering"), ("number", "text-classification")],
)
def test_a_card_without_labels(run: Path, answer: str, tag: str) -> None:
    task = files.read_json(run / "plan.json")["task"]
    change(run / "plan.json", task={**task, "answer": answer, "labels": []})
    report.write(run)
    text = cards(run)["teacher"]
    assert yaml.safe_load(text.split("---")[1])["pipeline_tag"] == tag
    assert "labels" not in text and "classifier" not in text


def test_a_method_without_a_name_is_unknown(run: Path) -> None:
    stages = files.read_json(run / "plan.json")["stages"]
    stages[0]["methods"] = [{"keep": 0.5}]
    change(run / "plan.json", stages=stages)
    report.write(run)
    assert "\n1. unknown: keep 0.5\n" in cards(run)["teacher"]

"""The result of a compression: its figures, its table and copies of its model."""

from pathlib import Path

import pytest

import tiny
from compression.test_judge import ALL, candidate, judged_all
from niwaki.compression.budget import Budget
from niwaki.compression.judge import Goal
from niwaki.compression.result import COLUMNS, Compressed, copied_model
from niwaki.core.errors import InputError

TRIED = judged_all(Goal(0.97, Budget(bytes=20), "size"), *ALL)


def result(folder: Path = Path("small")) -> Compressed:
    return Compressed(folder, Path("runs/small"), "accuracy", TRIED[2], TRIED)


def test_figures_are_those_of_the_chosen_candidate():
    found = result()
    assert (found.score, found.smaller, found.faster, found.source.name) == (0.88, 100 / 15, 3.0, "source")
    assert found.kept == pytest.approx(0.88 / 0.90)
    assert found.to_json()["chosen"] == "4bit" and len(found.to_json()["candidates"]) == 4


def test_a_source_without_a_positive_score_has_no_share():
    source = candidate("source", -0.1, 100)
    found = Compressed(Path("small"), Path("run"), "matthews", TRIED[1], [source, TRIED[1]])
    assert found.kept is None and "of the source's" not in repr(found)


def test_every_candidate_has_a_row_with_its_verdict():
    columns, rows = result().table()
    assert tuple(columns) == COLUMNS
    assert [(row[0], row[-1]) for row in rows] == [
        ("source", ""),
        ("int8", "over budget"),
        ("4bit", "chosen"),
        ("tiny", "loses too much"),
    ]
    assert rows[1][:-1] == ["int8", "0.8950", "99.4%", "0.8950", "0.0", "0.50", "4.0x"]


def test_good_candidates_that_are_not_chosen_say_so():
    tried = judged_all(Goal(0.9, Budget(), "size"), *ALL)
    _, rows = Compressed(Path("a"), Path("b"), "accuracy", tried[2], tried).table()
    assert rows[1][-1] == "good"


def test_unknown_figures_are_dashes():
    one = candidate("int8", 0.9, 25, faster=None, latency=None)
    _, ((*_, latency, faster, verdict), _) = Compressed(Path("a"), Path("b"), "f1", one, [one, TRIED[0]]).table()
    assert (latency, faster, verdict) == ("-", "-", "chosen")


def test_the_result_in_one_line():
    assert repr(result()) == (
        "Compressed('small': 4bit, accuracy 0.8800, 97.8% of the source's, 0.0 MB, 6.7x smaller, "
        "3.0x faster than transformers)"
    )


def test_notebooks_show_a_table_and_a_plot_without_markup_from_names():
    odd = candidate("<b>", 0.88, 15)
    found = Compressed(Path("a"), Path("b"), "accuracy", odd, [TRIED[0], odd])._repr_html_()
    assert "<table>" in found and "<svg" in found and "&lt;b&gt;" in found and "<b>" not in found


def test_a_model_is_copied_with_a_manifest_of_its_own(tmp_path, quick_disk):
    source = tmp_path / "model"
    tiny.with_graphs(tiny.model("bert", layers=1), source)
    (source / "heads" / "ner").mkdir(parents=True)
    (source / "heads" / "ner" / "config.json").write_text("{}")
    (source / "MANIFEST").write_text("of a run")
    (tmp_path / ".copy.tmp-killed").mkdir()
    copy = result(source).save(tmp_path / "copy")
    assert {path.name for path in source.iterdir()} == {path.name for path in copy.iterdir()}
    assert (copy / "heads" / "ner" / "config.json").is_file()
    assert "model.onnx" in (copy / "MANIFEST").read_text() and not (tmp_path / ".copy.tmp-killed").exists()
    with pytest.raises(InputError, match=f"^{copy}: exists already; remove it, or choose another folder$"):
        result(source).save(copy)


def test_a_failed_copy_leaves_nothing(tmp_path, quick_disk):
    source = tmp_path / "model"
    source.mkdir()
    (source / "config.json").write_text("{}")
    with pytest.raises(KeyError), copied_model(source, tmp_path / "copy") as folder:
        (folder / "more.json").write_text("{}")
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["model"]

"""Texts with different labels are reported before any work, and with scores."""

import json

import pyarrow as pa

import tiny
from niwaki.tasks._label_report import contradictions
from niwaki.tasks.classification import Classification


def written(path, rows):
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in rows))
    return str(path)


def test_the_remark_counts_rows_of_each_part_and_shows_one_text():
    long = "x" * 50
    train = pa.table({"text": ["fine", long, "fine", long, "fine", "bad"], "label": ["a", "b", "b", "a", "a", "c"]})
    test = pa.table({"text": ["good", "good"], "label": [["p", "q"], []]})
    found = contradictions({"train": train, "test": test}, ["text", "second"])
    start = "5 of the 6 train rows, 2 of the 2 test rows have the same text as another one with a different label"
    assert found == f"{start}, e.g. 'fine': a, b"
    assert contradictions({"test": test}, ["text"]).endswith("e.g. 'good': none, p+q")
    assert contradictions({"train": train.slice(1, 2)}, ["text"]) == ""


def test_a_file_with_contradictions_is_remarked_on(tmp_path):
    rows = tiny.sentences(60)
    wrong = "nice" if rows[0][1] != "nice" else "other"
    task = Classification(path=written(tmp_path / "rows.jsonl", [*rows, (rows[0][0], wrong), (rows[1][0], rows[1][1])]))
    remark = task.data.remarks()[-1]
    assert "have the same text as another one with a different label" in remark and repr(rows[0][0][:40]) in remark
    assert Classification(path=written(tmp_path / "clean.jsonl", rows)).data.caveats == ""


def test_contradictions_in_test_rows_limit_the_score(tmp_path):
    (tmp_path / "data").mkdir()
    rows = tiny.sentences(60)
    label = {name for _, name in rows} - {rows[50][1]}
    written(tmp_path / "data" / "train.jsonl", rows[:50])
    written(tmp_path / "data" / "test.jsonl", [*rows[50:], (rows[50][0], label.pop())])
    caveats = Classification(path=str(tmp_path / "data")).data.caveats
    assert "2 of the 11 test rows have the same text as another one" in caveats
    assert caveats.endswith("no model answers all of them as labelled.")

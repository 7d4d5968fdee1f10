"""A user's own rows, whatever their columns are called: one command to a report, and nothing else is written."""

import csv
import json
import random

import pytest

import tiny
from contracts import task_rows
from niwaki import api
from niwaki.cli._app import run
from niwaki.core.errors import InputError
from niwaki.core.problems import Problems
from niwaki.run.recipe import locate
from niwaki.run.start import resolve
from selection import rest_slow

LABELS = [f"Art {number:02d}, sonstig" for number in range(50)]


def odd_csv(path, rows=420):
    """Odd names, quoted newlines and quotes, 50 labels of which one has 30 % of the rows."""
    draw = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["lfd. Nr", "Kunden Äußerung (frei)", "Zuordnung – Stand 2"])
        for number in range(rows):
            label = LABELS[0] if draw.random() < 0.3 else LABELS[number % 50]
            words = " ".join(draw.choices([*tiny.PLAIN, *tiny.GOOD], k=12))
            table.writerow([number, f'{words},\n"{number}" {words[:9]}\n', label])
    return path


@pytest.mark.usefixtures("quick_disk")
def test_an_odd_csv_goes_to_a_report_and_no_other_file_is_written(tmp_path, bert_folder, monkeypatch, capfd):
    rows = odd_csv(tmp_path / "odd.csv")
    monkeypatch.chdir(tmp_path)
    changed = [f"model={bert_folder}", "stages.teacher.train.epochs=0.2", "stages.teacher.train.lr=1e-3"]
    assert run(["run", "finetune", "--data", "odd.csv", *(f"--set={one}" for one in changed)]) == 0, capfd.readouterr()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["odd.csv", "runs"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == [".stages", "odd-finetune"]
    folder = tmp_path / "runs" / "odd-finetune"
    report = json.loads((folder / "report.json").read_text())
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["task"]["name"] == "classification" and sum(plan["task"]["rows"].values()) == 420
    assert plan["task"]["labels"] == LABELS and 0 <= report["stages"][0]["score"] <= 1
    assert all((folder / name).stat().st_size > 0 for name in ("report.html", "report.md"))
    model = next(folder.glob("stages/teacher-*/model"))
    assert json.loads((model / "config.json").read_text())["id2label"]["49"] == LABELS[49]
    assert LABELS[49] in (model / "README.md").read_text()
    (answer,) = api.load(folder).predict(["the film\nwas fine"])
    assert answer.probabilities.keys() == set(LABELS)
    again = api.evaluate(folder, data=rows)
    assert again["value"] == pytest.approx(report["stages"][0]["score"])


ANSWER_TYPES = {
    "classification": "label",
    "regression": "number",
    "multilabel": "labels",
    "tagging": "tags",
    "question_answering": "span",
    "choice": "choice",
    "roles": "roles",
    "senses": "senses",
    "generation": "text",
}


def test_rows_without_a_recipe_use_own_data(tmp_path):
    found = resolve("", (), task_rows.write("choice", tmp_path), Problems())
    assert found[:2] == (locate("own_data"), "choice-own_data")


# tests/tasks/test_detect_task.py recognises the rows of every task; a check takes a second or two
@pytest.mark.parametrize("task", rest_slow(task_rows.TASKS, {"classification", "tagging", "generation"}))
def test_default_recipe_is_valid_for_rows_of_every_task(tmp_path, bert_folder, task):
    short = [f"data.{name}={value}" for name, value in task_rows.SHORT.get(task, {}).items()]
    plan = api.check(data=task_rows.write(task, tmp_path), overrides=[f"model={bert_folder}", *short])
    assert plan["task"]["name"] == task and plan["task"]["answer"] == ANSWER_TYPES[task]
    # a sentence is several rows of roles, and none of senses where no word is annotated
    assert sum(plan["task"]["rows"].values()) == 90 or task in ("roles", "senses")


def test_settings_that_name_no_column_may_be_combined_with_data(tmp_path, bert_folder):
    overrides = [f"model={bert_folder}", "data.max_tokens=32", "data.test=0.3"]
    plan = api.check("finetune", data=task_rows.write("question_answering", tmp_path), overrides=overrides)
    assert plan["task"]["name"] == "question_answering" and plan["task"]["rows"]["test"] > 20


def test_a_named_column_tells_the_task(tmp_path, bert_folder):
    """Two columns could be learnt; naming one is enough."""
    rows = [{"text": f"film number {k} was seen", "genre": "ab"[k % 2], "topic": "xy"[k // 2 % 2]} for k in range(60)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    plan = api.check("finetune", data=path, overrides=[f"model={bert_folder}", "data.label=topic"])
    assert plan["task"]["labels"] == ["x", "y"]


def test_an_invalid_file_of_vectors_is_rejected(tmp_path, bert_folder):
    """The baselines would read it after the last stage."""
    vectors = tmp_path / "vectors.txt"
    given = {
        "data": task_rows.write("classification", tmp_path),
        "overrides": [f"model={bert_folder}", f"vectors={vectors}"],
    }
    for text, says in (
        ("word 1 2\nother 1\n", "line 2 has 1 numbers, the first one 2"),
        ("Haus 1 2\n", "none of the words"),
    ):
        vectors.write_text(text)
        with pytest.raises(InputError, match=says):
            api.check("finetune", **given)
    vectors.write_text("film 1 2\n")
    assert api.check("finetune", **given)["task"]["name"] == "classification"


def test_test_rows_that_are_train_rows_are_reported_and_noted_in_the_plan(tmp_path, bert_folder, monkeypatch):
    messages: list[str] = []
    monkeypatch.setattr("niwaki.run.plan.info", messages.append)
    lines = [f"film number {k} was seen,{'ab'[k % 2]}\n" for k in range(60)]
    for part, some in (("train", lines[:50]), ("test", lines[47:])):
        (tmp_path / f"{part}.csv").write_text("text,label\n" + "".join(some))
    plan = api.check("finetune", data=tmp_path, overrides=[f"model={bert_folder}"])
    assert messages[0] == f"{tmp_path}: classification, text: text, label: label"
    assert (
        messages[1] == f"{tmp_path}: {plan['task']['caveat']}"
        and "of the 13 test rows stand in the train rows too" in messages[1]
    )


def test_a_label_of_the_validation_rows_that_no_train_row_has(tmp_path, bert_folder):
    lines = [f"film number {k} was seen,{'ab'[k % 2]}\n" for k in range(60)]
    for part, some in (
        ("train", lines[:40]),
        ("validation", [*lines[40:50], "a film,c\n", "a plot,d\n"]),
        ("test", lines[50:]),
    ):
        (tmp_path / f"{part}.csv").write_text("text,label\n" + "".join(some))
    with pytest.raises(
        InputError, match="label 'c' and 1 more are in the validation rows and not among the train rows' labels"
    ):
        api.check("finetune", data=tmp_path, overrides=[f"model={bert_folder}"])

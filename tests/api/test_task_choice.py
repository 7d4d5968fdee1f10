"""The task of a call: named, from its rows, or the default one."""

import pytest

from niwaki.api import task_choice
from niwaki.api.task_choice import choose_task
from niwaki.core.errors import InputError
from niwaki.tasks.classification import Classification
from niwaki.tasks.regression import Regression


def test_the_default_is_the_embedded_task():
    assert choose_task("", "", []).name == "rotten_tomatoes"


def test_the_task_follows_from_the_rows(rows_csv):
    task = choose_task("", rows_csv, [])
    assert isinstance(task, Classification) and task.path == str(rows_csv)


def test_a_named_task_reads_the_rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text,label\n" + "".join(f"film {n},{n % 3}\n" for n in range(60)))
    assert isinstance(choose_task("regression", path, []), Regression)


def test_settings_of_the_data_are_applied(rows_csv):
    task = choose_task("", rows_csv, ["data.test=0.3", "data.max_tokens=20"])
    assert (task.test, task.max_tokens) == (0.3, 20)


@pytest.mark.parametrize("override", ["seed=1", "stages.0.train.lr=1", "datum.test=0.3"])
def test_other_settings_are_rejected(rows_csv, override):
    with pytest.raises(
        InputError, match=f"^--set {override}: only settings of the data count here; write data.key=value$"
    ):
        choose_task("", rows_csv, [override])


@pytest.mark.parametrize(
    ("task", "overrides", "message"),
    [("clasification", [], "did you mean 'classification'"), ("", ["data.max_tokns=30"], "did you mean 'max_tokens'")],
)
def test_misspelled_names_are_pointed_out(rows_csv, task, overrides, message):
    with pytest.raises(InputError, match=message):
        choose_task(task, rows_csv, overrides)


def test_the_columns_that_are_read_are_reported(rows_csv, monkeypatch):
    messages = []
    monkeypatch.setattr(task_choice, "info", messages.append)
    choose_task("", rows_csv, [])
    assert messages == [f"{rows_csv}: classification, text: text, label: label"]

"""What `niwaki.cascade` hands to the search for thresholds, which tests/run/test_cascade.py tests."""

import pytest

from niwaki import api
from niwaki.core.errors import InputError
from niwaki.run import cascade as module
from niwaki.tasks.classification import Classification


@pytest.fixture
def calls(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "make", lambda *given: calls.append(given) or {"kept": 0.99})
    return calls


def test_models_task_and_goal_are_passed_on(calls, bert_folder, encoder_folder, rows_csv, tmp_path):
    found = api.cascade(
        [bert_folder, encoder_folder],
        data=rows_csv,
        keep=0.9,
        level=0.8,
        out=tmp_path / "both",
        engine="onnx",
        force=True,
    )
    ((folders, task, out, *goal),) = calls
    assert found == {"kept": 0.99} and folders == [bert_folder, encoder_folder] and out == tmp_path / "both"
    assert isinstance(task, Classification) and task.path == str(rows_csv) and goal == [0.9, 0.8, "onnx", True]


def test_the_folder_may_be_in_the_home_folder(calls, bert_folder, rows_csv, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    api.cascade([bert_folder], data=rows_csv, out="~/both")
    assert calls[0][2] == tmp_path / "both"


def test_settings_of_the_data_are_checked_before_any_work(calls, bert_folder, rows_csv):
    with pytest.raises(InputError, match=r"^data\.test: "):
        api.cascade([bert_folder], data=rows_csv, overrides=["data.test=2"])
    assert not calls

"""What `niwaki.export` hands to the export, which tests/run/test_export.py tests."""

import pytest

from niwaki import api
from niwaki.core.errors import InputError
from niwaki.run import export as module
from niwaki.run import peft_format
from niwaki.tasks.classification import Classification


@pytest.fixture
def written(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "export", lambda *given: calls.append(given) or {"out": str(given[2])})
    monkeypatch.setattr(peft_format, "write_peft", lambda *given: calls.append(given) or given[1])
    return calls


def test_without_a_task_or_rows_there_is_no_gate(written, bert_folder, tmp_path):
    assert api.export(bert_folder, "onnx", tmp_path / "out") == {"out": str(tmp_path / "out")}
    assert written == [(bert_folder, "onnx", tmp_path / "out", "", None, 0.005)]


def test_rows_are_the_gate(written, bert_folder, rows_csv, tmp_path):
    overrides = ["data.test=0.4"]
    api.export(bert_folder, out=tmp_path / "out", data=rows_csv, overrides=overrides, tolerance=0.1, precision="float")
    ((_, engine, _, precision, task, tolerance),) = written
    assert (engine, precision, tolerance) == ("native", "float", 0.1)
    assert isinstance(task, Classification) and task.test == 0.4


def test_settings_of_the_data_are_checked_before_any_work(written, bert_folder, rows_csv):
    with pytest.raises(InputError, match=r"^data\.tset: unknown key"):
        api.export(bert_folder, data=rows_csv, overrides=["data.tset=0.1"])
    assert not written


def test_a_delta_is_written_from_the_models_folder(written, bert_folder, tmp_path):
    assert api.write_peft(str(bert_folder), tmp_path / "delta") == tmp_path / "delta"
    assert written == [(bert_folder, tmp_path / "delta")]

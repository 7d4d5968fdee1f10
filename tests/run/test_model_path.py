"""Which model folder a path or a name stands for."""

from types import SimpleNamespace

import pytest

from niwaki.core.errors import UsageError
from niwaki.data.embedded import find_model
from niwaki.run import model_path as module
from niwaki.run.model_path import locate_model, model_path


@pytest.fixture
def run_with_stages(tmp_path, monkeypatch):
    """A folder that is a run; its stages are not read."""
    (tmp_path / "plan.json").write_text("{}")
    found = SimpleNamespace(
        model=lambda stage: tmp_path / f"of {stage}",
        deploy=tmp_path / "cascade",
        deployed_model=tmp_path / "recommended",
    )
    monkeypatch.setattr(module.Run, "read", lambda folder: found)
    return tmp_path


def test_a_folder_stands_for_itself(tmp_path):
    assert model_path(str(tmp_path)) == tmp_path == locate_model(str(tmp_path))


def test_a_stage_of_a_folder_that_is_no_run_is_rejected(tmp_path):
    with pytest.raises(UsageError, match="has no stage 'student'"):
        model_path(tmp_path, "student")


def test_a_path_below_a_run_names_a_stage(run_with_stages):
    wanted = run_with_stages / "of student"
    assert model_path(run_with_stages / "student") == wanted == locate_model(str(run_with_stages / "student"))


def test_a_run_stands_for_its_cascade_or_for_one_network(run_with_stages):
    assert model_path(run_with_stages) == run_with_stages / "cascade"
    assert locate_model(str(run_with_stages)) == run_with_stages / "recommended"
    assert model_path(run_with_stages, single=True) == run_with_stages / "recommended"


def test_an_existing_folder_below_a_run_is_not_a_stage(run_with_stages):
    (run_with_stages / "student").mkdir()
    assert model_path(run_with_stages / "student") == run_with_stages / "student"


def test_an_embedded_name_stands_for_its_model():
    assert locate_model("minilm") == find_model("minilm")

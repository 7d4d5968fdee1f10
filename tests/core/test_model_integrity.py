"""A finished model that differs from what was saved is rejected in one line; one without a MANIFEST is accepted."""

import json
import shutil

import pytest

from niwaki.core import files, log, model_integrity
from niwaki.core.errors import InputError
from niwaki.core.model_integrity import check_unchanged, warn_unverified


@pytest.fixture
def model(tmp_path):
    with files.commit_folder(tmp_path / "stage") as folder:
        (folder / "model").mkdir()
        (folder / "model" / "weights").write_bytes(bytes(1000))
        (folder / "model" / "config.json").write_text("{}")
        (folder / "result.json").write_text("{}")
    return tmp_path / "stage" / "model"


def test_what_is_as_it_was_saved_is_taken(model, monkeypatch):
    check_unchanged(model)
    (model / "README.md").write_text("a card that came later")
    check_unchanged(model)
    monkeypatch.chdir(model)
    check_unchanged(files.Path("."))


@pytest.mark.parametrize("spoil", ["flip", "cut", "missing"])
def test_a_damaged_file_is_rejected_by_name(model, spoil, monkeypatch):
    path = model / "weights"
    content = path.read_bytes()
    path.unlink()
    if spoil != "missing":
        path.write_bytes(content[:500] + b"\x01" + content[501:] if spoil == "flip" else content[:500])
    with pytest.raises(InputError, match=rf"{path}: is (missing|not what was saved).*run the recipe again") as caught:
        check_unchanged(model)
    assert "\n" not in str(caught.value)
    monkeypatch.chdir(model)
    with pytest.raises(InputError):
        check_unchanged(files.Path("."))


def test_an_export_has_a_manifest_of_its_own(tmp_path):
    with files.commit_folder(tmp_path / "export") as folder:
        (folder / "weights").write_bytes(bytes(1000))
    check_unchanged(tmp_path / "export")
    (tmp_path / "export" / "weights").write_bytes(bytes(999) + b"\x01")
    with pytest.raises(InputError, match=r"weights: is not what was saved .*; export it again"):
        check_unchanged(tmp_path / "export")
    (tmp_path / "export" / "MANIFEST").write_text("{}")
    with pytest.raises(InputError, match="MANIFEST: is damaged; export it again"):
        check_unchanged(tmp_path / "export")
    (tmp_path / "export" / "MANIFEST").unlink()
    check_unchanged(tmp_path / "export")


@pytest.mark.parametrize("text", ["{}", "[]", '{"files": 3}', "{", '{"files": {"a": 1, "a": 2}}'])
def test_an_invalid_manifest_is_rejected(model, text):
    (model.parent / "MANIFEST").write_text(text)
    with pytest.raises(InputError, match="MANIFEST: "):
        check_unchanged(model)


def test_a_manifest_of_a_stranger_leads_nowhere(model):
    names = ("model/../../outside", "/etc/passwd", "../outside")
    for name in names:
        (model.parent / "MANIFEST").write_text(json.dumps({"files": {name: {"bytes": 1, "sha256": ""}}}))
        with pytest.raises(InputError, match="MANIFEST: is damaged"):
            check_unchanged(model)


def test_a_stage_without_a_manifest_is_rejected(model):
    (model.parent / "MANIFEST").unlink()
    with pytest.raises(InputError, match="stage: has no MANIFEST; run the recipe again"):
        check_unchanged(model)


@pytest.mark.parametrize("name", ["native.json", "blueprint.json"])
def test_a_file_added_to_a_model_is_rejected(model, name):
    (model / name).write_text("{}")
    with pytest.raises(InputError, match=f"{name}: was added .*remove it"):
        check_unchanged(model)


def test_an_edited_result_rejects_the_whole_stage(model):
    (model.parent / "result.json").write_text('{"score": 1}')
    with pytest.raises(InputError, match=r"result\.json: is not what was saved"):
        check_unchanged(model)


def stage_in_run(folder, name="teacher", key="a" * 64):
    with files.commit_folder(folder / "stages" / f"{name}-{key[:12]}") as stage:
        (stage / "model").mkdir()
        (stage / "model" / "weights").write_bytes(key.encode())
        (stage / "result.json").write_text(json.dumps({"stage": name, "key": key}))
    (folder / "plan.json").write_text("{}")
    return folder / "stages" / f"{name}-{key[:12]}"


def test_a_stage_in_the_place_of_another_is_rejected(tmp_path):
    teacher, student = stage_in_run(tmp_path), stage_in_run(tmp_path, "student", "b" * 64)
    check_unchanged(teacher / "model")
    shutil.rmtree(teacher)
    shutil.copytree(student, teacher)
    with pytest.raises(InputError, match=r"teacher-a+: holds another stage \('student', key b{12}\)"):
        check_unchanged(teacher / "model")
    shutil.copytree(student, tmp_path / "elsewhere")
    check_unchanged(tmp_path / "elsewhere" / "model")  # a copy outside a run may have any name


def test_a_stage_of_a_run_that_lost_manifest_and_result_is_rejected(tmp_path):
    stage = stage_in_run(tmp_path)
    (stage / "MANIFEST").unlink()
    (stage / "result.json").unlink()
    with pytest.raises(InputError, match="has no MANIFEST"):
        check_unchanged(stage / "model")


def test_a_model_of_a_cascade_is_sealed_by_its_parent(tmp_path):
    with files.commit_folder(tmp_path / "cascade") as folder:
        for name in ("model-0", "model-1"):
            (folder / name).mkdir()
            (folder / name / "weights").write_bytes(name.encode())
    (tmp_path / "cascade" / "model-1" / "weights").write_bytes(b"model-2")
    check_unchanged(tmp_path / "cascade" / "model-0")
    with pytest.raises(InputError, match="model-1/weights: is not what was saved"):
        check_unchanged(tmp_path / "cascade" / "model-1")


def test_a_folder_without_a_manifest_is_taken_with_one_notice(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(log, "_quiet", False)
    monkeypatch.setattr(model_integrity, "_warned", set())
    (tmp_path / "plain").mkdir()
    for _ in range(3):
        check_unchanged(tmp_path / "plain")
        warn_unverified(tmp_path / "plain")
    messages = capsys.readouterr().err
    assert messages.count("\n") == 1 and f"{tmp_path / 'plain'}: has no MANIFEST" in messages


def test_no_notice_where_there_is_a_manifest(model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(log, "_quiet", False)
    with files.commit_folder(tmp_path / "export") as folder:
        (folder / "weights").write_bytes(b"1")
    for folder in (model, tmp_path / "export", tmp_path / "nowhere"):
        warn_unverified(folder)
    assert capsys.readouterr().err == ""


def test_a_file_that_no_memory_holds_is_not_read_through(model, monkeypatch):
    monkeypatch.setattr(files, "free_memory", lambda: 100)
    monkeypatch.setattr(files, "ALWAYS_FREE", 0)
    with pytest.raises(InputError, match="of memory"):
        check_unchanged(model)

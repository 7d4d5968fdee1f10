"""Saving, uploading and fetching. The Hub is a stand-in for its client."""

import shutil
import sys
from types import SimpleNamespace

import pytest

import niwaki
import tiny
from niwaki.core.errors import InputError, UsageError
from niwaki.engines.sharing import fetch, save_copy, upload


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny.deployed(tiny.model(layers=1), tmp_path_factory.mktemp("model") / "model")


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Keeps uploaded folders; `fault` is raised by every request."""
    state = SimpleNamespace(repositories={}, fault=None, tokens=[])

    def request(repo_id):
        if state.fault:
            raise state.fault
        return tmp_path / "hub" / repo_id

    class HfApi:
        def __init__(self, token):
            state.tokens.append(token)

        def create_repo(self, repo_id, private, exist_ok):
            request(repo_id).mkdir(parents=True, exist_ok=exist_ok)
            state.repositories[repo_id] = private
            return f"https://hub/{repo_id}"

        def upload_folder(self, repo_id, folder_path, commit_message):
            shutil.copytree(folder_path, request(repo_id), dirs_exist_ok=True)

    def snapshot_download(repo_id, revision, ignore_patterns):
        assert "*.bin" in ignore_patterns
        return str(request(repo_id))

    monkeypatch.setitem(
        sys.modules, "huggingface_hub", SimpleNamespace(HfApi=HfApi, snapshot_download=snapshot_download)
    )
    return state


def test_a_saved_copy_is_sealed_and_predicts_the_same(model, tmp_path):
    predictor = niwaki.load(model, "onnx")
    folder = predictor.save_pretrained(tmp_path / "copy")
    assert (folder / "MANIFEST").is_file()
    assert niwaki.load(folder, "onnx").predict(["good film"]) == predictor.predict(["good film"])
    assert predictor.save_pretrained(folder) == folder  # replaces a saved model
    (folder / "config.json").write_text("{}")
    with pytest.raises(InputError, match=r"config\.json"):
        niwaki.load(folder)


def test_other_folders_are_not_replaced(model, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    for target in (tmp_path, tmp_path / "notes.txt"):
        with pytest.raises(InputError, match="exists and is not a saved model"):
            save_copy(model, target)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_uploaded_models_can_be_fetched(model, hub):
    address = niwaki.load(model, "onnx").push_to_hub("me/tiny", private=True, token="t")
    assert address == "https://hub/me/tiny" and hub.repositories == {"me/tiny": True} and hub.tokens == ["t"]
    assert niwaki.load(fetch("me/tiny"), "onnx").labels == tiny.LABELS
    assert (fetch("me/tiny") / "onnx" / "model.onnx").is_file()  # what other tools look for
    assert not (fetch("me/tiny") / "model.onnx").exists() and (model / "model.onnx").is_file()


def test_estimators_come_from_the_hub(model, hub):
    niwaki.load(model, "onnx").push_to_hub("me/tiny")
    found = niwaki.Classifier.from_pretrained("me/tiny")
    assert found.classes_.tolist() == ["bad", "good"] and len(found.predict(["good film", "bad film"])) == 2


def test_faults_of_the_hub_are_one_line(model, hub):
    hub.fault = ConnectionError("no route to host\nat line 3")
    with pytest.raises(InputError, match=r"me/tiny: could not be uploaded .*no route to host") as error:
        upload(model, "me/tiny")
    with pytest.raises(InputError, match=r"me/tiny: is not a folder, and could not be fetched .*no route") as other:
        fetch("me/tiny")
    assert "\n" not in str(error.value) + str(other.value)


@pytest.mark.parametrize("name", ["tiny", "a/b/c", "./x", "me/"])
def test_impossible_names_are_rejected_without_a_request(model, hub, name):
    for call in (lambda: upload(model, name), lambda: fetch(name)):
        with pytest.raises(InputError, match="is neither a folder nor a Hugging Face id; write owner/name"):
            call()
    assert hub.tokens == []


@pytest.mark.parametrize("target", [None, 3, "", b"x"])
def test_targets_that_are_no_paths_are_rejected(model, target):
    with pytest.raises(UsageError, match=r"^save_pretrained: the folder must be text or a Path"):
        save_copy(model, target)


def test_notebooks_show_the_labels_and_the_size(model):
    shown = niwaki.load(model, "onnx")._repr_html_()
    assert "bad, good" in shown and "MB" in shown and str(model) in shown

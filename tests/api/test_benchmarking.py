"""Which models and engines are timed, and under which names. Timing is tested in tests/evaluate/test_bench.py."""

import pytest

import tiny
from niwaki import api
from niwaki.api import benchmarking
from niwaki.core.errors import InputError, UsageError
from niwaki.evaluate import bench


@pytest.fixture
def timed(monkeypatch):
    """What would be timed: the last arguments."""
    calls = {}

    def measure(chosen, streams, rounds, threads):
        calls.update(chosen=chosen, streams=streams, rounds=rounds, threads=threads)
        return {"streams": {}}

    monkeypatch.setattr(bench, "bench", measure)
    monkeypatch.setattr(bench, "readable_streams", lambda folders, streams: [*streams, len(folders)])
    monkeypatch.setattr(benchmarking, "engines_of", lambda folder: ["onnx", "torch", "native"])
    monkeypatch.setattr(benchmarking, "timed_engines", lambda engines: [name for name in engines if name != "torch"])
    return calls


@pytest.fixture
def folders(tmp_path):
    """Two models of the same name and one of another, without weights."""
    found = [tmp_path / "one" / "mine", tmp_path / "two" / "mine", tmp_path / "other"]
    for folder in found:
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
    return found


def test_each_model_is_timed_in_each_of_its_engines(timed, folders):
    api.bench([folders[0], folders[2]], rounds=3, threads=2)
    assert list(timed["chosen"]) == ["mine onnx", "mine native", "other onnx", "other native"]
    assert timed["chosen"]["other native"] == (folders[2], "native")
    assert (timed["rounds"], timed["threads"], timed["streams"]) == (3, 2, [2])


def test_named_engines_are_timed_also_when_slow(timed, folders):
    api.bench([folders[0]], engines=["torch"], streams=["short"])
    assert list(timed["chosen"]) == ["mine torch"] and timed["streams"] == ["short", 1]


def test_models_with_equal_names_are_named_by_their_paths(timed, folders):
    api.bench(folders[:2], engines=["onnx"])
    assert list(timed["chosen"]) == [f"{folder} onnx" for folder in folders[:2]]


def test_a_model_is_given_once(timed, folders):
    with pytest.raises(UsageError, match=r"^bench: a model is given twice; give different ones$"):
        api.bench([folders[0], folders[0].parent / "." / "mine"])


def test_unknown_streams_and_missing_folders_are_rejected(folders, tmp_path):
    with pytest.raises(UsageError, match=r"^--stream 127: is not one.*'128'"):
        api.bench([folders[0]], streams=["127"])
    with pytest.raises(InputError, match="is not a folder"):
        api.bench([tmp_path / "nothing"])


def test_models_that_read_no_texts_are_rejected(tmp_path):
    model = tiny.model("bert", layers=1, head="TokenClassification")
    folder = tmp_path / "model"
    folder.mkdir()
    model.save(folder)
    with pytest.raises(InputError, match="bench runs models that read a text"):
        api.bench([folder], engines=["torch"], streams=["short"])

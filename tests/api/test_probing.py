import json

import pytest

import tiny
from evaluate.probes.sentences import sentences
from niwaki.api.probing import probe, short_names
from niwaki.core import log
from niwaki.core.errors import InputError, UsageError


def test_folders_are_compared(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        tiny.model("bert", layers=1, seed=ord(name)).save(tmp_path / name)
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in sentences(60)))
    with log.silenced():
        found = probe([tmp_path / "a", tmp_path / "b"], rows, probes=["agreement"], examples=100)
    assert list(found["probes"]["agreement"]["models"]) == ["a", "b"]


def test_models_of_images_are_rejected(tmp_path):
    tiny.model("vit", layers=1).save(tmp_path)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in sentences(60)))
    with log.silenced(), pytest.raises(InputError, match="reads images, and probes are for models of texts"):
        probe(tmp_path, tmp_path / "rows.jsonl", probes=["agreement"])


def test_bad_arguments_are_named():
    with pytest.raises(UsageError, match="did you mean 'agreement'"):
        probe("minilm", "rows.jsonl", probes=["agreemnt"])
    with pytest.raises(UsageError, match="examples must be 1"):
        probe("minilm", "rows.jsonl", examples=0)
    with pytest.raises(UsageError, match="at least one model"):
        probe([], "rows.jsonl")


def test_models_have_short_names():
    assert short_names(["runs/a/model", "runs/b/model"]) == ["a/model", "b/model"]
    assert short_names(["x/one", "two"]) == ["one", "two"] and short_names(["a", "a"]) == ["1: a", "2: a"]

"""Trunk and head of a model folder: which tensors and keys belong to which, and digests of the trunk."""

import shutil

import pytest
from safetensors.torch import load_file, save_file

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import write_json
from niwaki.core.head_folder import HEAD_WEIGHTS
from niwaki.models.stock import WEIGHTS
from niwaki.models.trunk import (
    TRUNK,
    check_trunk,
    is_of_delta,
    is_of_head,
    names_with_deltas,
    pooler_tensors,
    trunk_config,
    trunk_digest,
    trunk_name,
    trunk_tensors,
    with_head,
    write_trunk_digest,
)

from .loading import change

QUERY = "bert.encoder.layer.0.attention.self.query"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trunk") / "model"
    folder.mkdir()
    tiny.model("bert", layers=1).save(folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("classifier.weight", True),
        ("bert.pooler.dense.bias", True),
        ("bert.embeddings.word_embeddings.weight", False),
        (f"{QUERY}.weight", False),
    ],
)
def test_tensors_outside_of_the_body_and_the_pooler_are_the_heads(name, head):
    assert is_of_head(name, "bert") == head


def test_deltas_wrap_tensors_of_the_trunk():
    tuned = [f"{QUERY}.base.weight", f"{QUERY}.delta.down", "bert.embeddings.word_embeddings.weight"]
    assert [is_of_delta(name) for name in tuned] == [False, True, False]
    assert trunk_name(tuned[0]) == f"{QUERY}.weight"
    assert names_with_deltas([f"{QUERY}.weight"], tuned)[f"{QUERY}.weight"] == tuned[0]
    assert names_with_deltas(tuned, tuned) == {}


def test_a_network_takes_the_trunk_and_the_head():
    trunk = {"bert.a": 1, "bert.pooler.w": 2, "classifier.w": 3}
    assert with_head(trunk, {"classifier.w": 9}, ["bert.a", "bert.pooler.w", "classifier.w"], "bert") == {
        "bert.a": 1,
        "bert.pooler.w": 2,
        "classifier.w": 9,
    }
    own = {"classifier.w": 9, "bert.pooler.w": 8}
    assert with_head(trunk, own, ["bert.a", "bert.pooler.w", "classifier.w"], "bert") == {"bert.a": 1, **own}
    assert with_head(trunk, {"span.w": 9}, ["bert.a", "span.w"], "bert") == {"bert.a": 1, "span.w": 9}


def test_the_config_of_a_trunk_has_no_keys_of_heads_or_versions():
    values = {"hidden_size": 8, "id2label": {}, "niwaki_answer": {}, "transformers_version": "5", "hidden_act": "gelu"}
    assert trunk_config(values) == {"hidden_size": 8, "hidden_act": "gelu"}


def test_every_tensor_is_in_the_trunk_or_the_head(folder):
    tensors = load_file(folder / WEIGHTS)
    assert set(trunk_tensors(folder)) == {name for name in tensors if not is_of_head(name, "bert")}
    assert set(pooler_tensors(folder)) == {"bert.pooler.dense.weight", "bert.pooler.dense.bias"}


def altered(folder, name):
    tensors = load_file(folder / WEIGHTS)
    tensors[name].view(-1)[0] += 1
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})


def test_the_digest_follows_tensors_config_and_tokenizer_of_the_trunk(folder):
    before = trunk_digest(folder)
    altered(folder, "classifier.weight")
    change(folder / "config.json", problem_type="regression")
    assert trunk_digest(folder) == before
    seen = {before}
    altered(folder, f"{QUERY}.weight")
    seen.add(trunk_digest(folder))
    change(folder / "config.json", hidden_act="relu")
    seen.add(trunk_digest(folder))
    (folder / "tokenizer.json").write_text((folder / "tokenizer.json").read_text() + " ")
    seen.add(trunk_digest(folder))
    assert len(seen) == 4


def test_equal_bytes_of_another_shape_or_type_are_another_trunk(folder):
    before = trunk_tensors(folder)[f"{QUERY}.weight"]
    tensors = load_file(folder / WEIGHTS)
    tensors[f"{QUERY}.weight"] = tensors[f"{QUERY}.weight"].reshape(-1)
    save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})
    assert trunk_tensors(folder)[f"{QUERY}.weight"] != before


@pytest.fixture
def head(folder):
    path = folder / "heads" / "ner"
    path.mkdir(parents=True)
    (path / HEAD_WEIGHTS).write_bytes(b"")
    return path


def test_a_head_fits_the_trunk_that_it_was_saved_for(folder, head):
    write_trunk_digest(head, folder)
    check_trunk(head)
    check_trunk(folder)  # no head: nothing to check
    altered(folder, "bert.pooler.dense.bias")
    check_trunk(head)
    altered(folder, f"{QUERY}.weight")
    with pytest.raises(InputError, match=rf"^{head}: was saved for another trunk than {folder}; add the head again"):
        check_trunk(head)


def test_a_shared_pooler_must_be_the_same(folder, head):
    write_trunk_digest(head, folder, shares_pooler=True)
    check_trunk(head)
    altered(folder, "bert.pooler.dense.bias")
    with pytest.raises(InputError, match="was saved for another trunk"):
        check_trunk(head)


@pytest.mark.parametrize("stated", [[], {"version": 2}, {}])
def test_a_damaged_or_later_digest_is_rejected(head, stated):
    write_json(head / TRUNK, stated)
    with pytest.raises(InputError, match="is damaged, or of a later version of niwaki"):
        check_trunk(head)

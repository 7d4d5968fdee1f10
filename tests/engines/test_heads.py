"""Several heads at once: answers by head, names, and what is rejected. Numbers are tested in test_shared_trunk.py."""

import json

import pytest

import niwaki
from engines.kinds import INPUTS, ROWS, model_of, saved
from engines.trunks import folder_with_heads
from niwaki.cli._app import run
from niwaki.core.errors import InputError, UsageError
from niwaki.engines.heads import Heads


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return folder_with_heads(
        tmp_path_factory.mktemp("heads"), plain={"number": "score", "labels": "topics", "tags": "ner"}
    )


def test_an_answer_has_one_of_each_head(folder):
    heads = Heads(folder, "main, topics")
    found = heads.predict(ROWS[:3])
    for text, one in zip(ROWS, found, strict=False):
        assert one.heads.keys() == {"main", "topics"}
        for name, answer in one.heads.items():
            assert (
                answer.record()
                == niwaki.load(folder, "torch", head="" if name == "main" else name).predict([text])[0].record()
            )
    assert found[0].line().startswith("main=")
    assert heads.values(ROWS[:3])[0].keys() == {"main", "topics"}


def test_all_names_every_head_and_none_twice(folder):
    assert list(niwaki.load_heads(folder).heads) == ["main", "ner", "score", "topics"]
    assert list(Heads(folder, ["topics", "main", "topics"]).heads) == ["topics", "main"]


def test_heads_with_other_inputs_answer_mixed_batches_alone(folder):
    heads = Heads(folder)
    with pytest.raises(UsageError, match=r"head 'ner' takes .* name heads that take the same inputs"):
        heads.predict(ROWS[:2])
    tags, label = heads.predict_mixed([INPUTS["tags"][0], ROWS[0]], ["ner", "main"])
    assert len(tags.record()["tags"]) == len(INPUTS["tags"][0]) and label.record()["label"]


@pytest.mark.parametrize(
    ("texts", "names", "message"),
    [
        (["a film"], ["topic"], "heads.0: there is no head 'topic', did you mean 'topics'"),
        (["a film"], [], "a head for each"),
        ("a film", ["main"], "give a list"),
    ],
)
def test_faulty_mixed_batches_are_rejected(folder, texts, names, message):
    with pytest.raises(UsageError, match=message):
        Heads(folder, "main,topics").predict_mixed(texts, names)


def test_unknown_names_and_folders_without_heads_are_rejected(folder, tmp_path):
    with pytest.raises(InputError, match="has no head 'topic', did you mean 'topics'"):
        Heads(folder, "topic")
    with pytest.raises(InputError, match="no further heads; add one with `niwaki add"):
        Heads(saved(model_of("label"), tmp_path / "alone"))
    with pytest.raises(InputError, match="is one head"):
        niwaki.load_heads(folder / "heads" / "topics")
    with pytest.raises(UsageError, match="name at least one"):
        Heads(folder, [])


def test_the_command_answers_with_several_heads_and_a_cache(folder, tmp_path, capsys):
    words = ["predict", str(folder), "a film", "--heads", "main,topics", "--cache", str(tmp_path / "cache"), "--json"]
    assert run(words) == 0
    first = capsys.readouterr().out
    assert json.loads(first)[0]["heads"].keys() == {"main", "topics"}
    assert len(list((tmp_path / "cache").iterdir())) == 1
    assert run(words) == 0
    assert capsys.readouterr().out == first
    (tmp_path / "texts.txt").write_text("a film\na plot\n")
    files = ["--in", str(tmp_path / "texts.txt"), "--out", str(tmp_path / "out.jsonl")]
    assert run(["predict", str(folder), *files, "--heads", "main,topics"]) == 0
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["heads"] == json.loads(first)[0]["heads"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--head", "topics", "--heads", "all"], "give --head for one head"),
        (["--cache", "x"], "--cache keeps encoder outputs for --heads"),
        (["--heads", "all", "--engine", "onnx"], "computes in torch, not in onnx"),
    ],
)
def test_options_that_exclude_each_other_are_rejected(folder, options, message, capsys):
    assert run(["predict", str(folder), "a film", *options]) == 2
    assert message in capsys.readouterr().err

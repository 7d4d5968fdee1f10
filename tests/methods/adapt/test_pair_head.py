"""The head for pairs as a method: the tokenizer keeps texts apart, and other tasks are rejected before any work."""

import json

import pytest
import transformers
from tokenizers import Tokenizer

import tiny
from niwaki.core.errors import InputError
from niwaki.methods.adapt.pair_head import PairHead
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse


def test_texts_are_separate_after_preparing():
    model = PairHead(dropout=0.25).prepare(tiny.model(niwaki_pooling={"mode": "max"}), None)
    assert model.tokenizer.backend_tokenizer.encode("good", "bad").tokens == [
        "[CLS]",
        "good",
        "[SEP]",
        "[CLS]",
        "bad",
        "[SEP]",
    ]
    assert (model.anatomy.head.mode, model.anatomy.head.dropout.p) == ("max", 0.25)


def test_texts_are_separate_in_a_loaded_model_whatever_transformers_class_says(tmp_path):
    """BertTokenizer puts its own template in place of that of tokenizer.json, also into what a later stage saves."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    PairHead().prepare(tiny.model(), None).save(tmp_path / "first")
    config = tmp_path / "first" / "tokenizer_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "tokenizer_class": "BertTokenizer"}))
    assert type(transformers.AutoTokenizer.from_pretrained(tmp_path / "first")).__name__ == "BertTokenizer"
    model = load_folder(tmp_path / "first")
    model.save(tmp_path / "second")
    saved = Tokenizer.from_file(str(tmp_path / "second" / "tokenizer.json"))
    for tokenizer in (model.tokenizer.backend_tokenizer, saved):
        found = tokenizer.encode("good", "bad")
        assert found.tokens == ["[CLS]", "good", "[SEP]", "[CLS]", "bad", "[SEP]"] and found.type_ids == [
            0,
            0,
            0,
            1,
            1,
            1,
        ]


def test_a_task_on_single_texts_is_rejected(bert_folder, rows_csv):
    stage = {"name": "pairs", "methods": [{"use": "pair_head"}], "train": {"epochs": 1}}
    recipe = {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv)}, "stages": [stage]}
    with pytest.raises(InputError, match=r"stage 'pairs': pair_head: .* is on single texts; leave 'pair_head' out"):
        make_plan(parse(recipe), "pairs")


@pytest.mark.parametrize(
    "settings", [{"head": "TokenClassification"}, {"family": "averaging"}], ids=["tagger", "no layers"]
)
def test_a_model_without_a_vector_for_each_text_is_rejected(settings):
    with pytest.raises(InputError, match="pair_head"):
        PairHead().dry_prepare(tiny.model(**settings))


@pytest.mark.parametrize(("use", "accepted"), [("logits", True), ("tinybert", False)])
def test_logits_of_a_bi_encoder_are_distilled_and_layers_are_not(bert_folder, tmp_path, use, accepted):
    teacher = {"name": "teacher", "methods": [{"use": "pair_head"}], "train": {"epochs": 1}}
    student = {
        "name": "student",
        "start": "pretrained",
        "teacher": "teacher",
        "train": {"epochs": 1},
        "methods": [{"use": use}],
    }
    data = {"path": str(tiny.write_pairs_csv(tmp_path / "pairs.csv"))}
    recipe = parse({"model": str(bert_folder), "task": "classification", "data": data, "stages": [teacher, student]})
    if accepted:
        assert make_plan(recipe, "pairs").stages
    else:
        with pytest.raises(InputError, match=r"tinybert: .* reads both texts separately.*distil its logits"):
            make_plan(recipe, "pairs")

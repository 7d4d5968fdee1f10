"""A model with fewer tokens computes the same for texts that use no others."""

import json

import pytest
import torch
import transformers

import spm
import stock
import tiny
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.models.edits.int8 import Int8
from niwaki.models.generation import generate, search_of
from niwaki.models.model import load_folder
from niwaki.models.trimming import trim_vocabulary

TEXTS, TARGETS = ["two ONE", "one", "THREE one two"], ["four ONE", "TWO"]
STAY = {"one", "two", "four", "ONE", "TWO", "THREE"}
FAMILIES = [name for name in stock.CLASSES if name != "mt5"]  # mT5 computes what Flan-T5 does


@pytest.fixture(params=FAMILIES)
def family(request):
    return request.param


@pytest.fixture
def whole(family, tmp_path):
    return load_folder(stock.folder(family, tmp_path / "whole"))


def trimmed(whole):
    return trim_vocabulary(whole.clone(), TEXTS, TARGETS)


def encoded(model, texts):
    """The ids of texts, padded, with their mask."""
    rows = [model.tokenizer.backend_tokenizer.encode(text).ids for text in texts]
    pad, most = model.network.config.pad_token_id, max(map(len, rows))
    ids = torch.tensor([row + [pad] * (most - len(row)) for row in rows])
    return {
        "input_ids": ids,
        "attention_mask": torch.tensor([[1] * len(row) + [0] * (most - len(row)) for row in rows]),
    }


def names(model, ids):
    return [[model.tokenizer.convert_ids_to_tokens(int(number)) for number in row if number >= 0] for row in ids]


@torch.no_grad()
def test_logits_of_the_tokens_that_stay_are_the_same(whole):
    small = trimmed(whole)
    tokens = small.tokenizer.get_vocab()
    assert tokens.keys() >= STAY and not {"three", "five", "FIVE"} & tokens.keys()
    assert small.network.config.vocab_size == len(tokens) < whole.network.config.vocab_size
    written = [
        [model.network.config.decoder_start_token_id, *model.tokenizer.convert_tokens_to_ids(["four", "TWO"])]
        for model in (whole, small)
    ]
    found = [
        model.network(**encoded(model, TEXTS), decoder_input_ids=torch.tensor([row] * len(TEXTS))).logits
        for model, row in zip((whole, small), written, strict=True)
    ]
    places = [whole.tokenizer.convert_tokens_to_ids(token) for token in sorted(tokens, key=tokens.get)]
    torch.testing.assert_close(found[1], found[0][..., places], atol=1e-6, rtol=0)


def test_special_tokens_have_their_new_ids(family, whole):
    small = trimmed(whole)
    for name in ("pad_token_id", "eos_token_id", "decoder_start_token_id"):
        before, after = (getattr(model.network.config, name) for model in (whole, small))
        assert small.tokenizer.convert_ids_to_tokens(after) == whole.tokenizer.convert_ids_to_tokens(before)
    answer = small.network.config.niwaki_answer
    assert answer["start"] == small.network.config.decoder_start_token_id
    assert answer["end"] == small.network.config.eos_token_id
    assert json.loads(small.sibling_files[TARGET])["model"]["vocab"] == small.tokenizer.get_vocab()


@pytest.mark.parametrize("packed", [False, True], ids=["stock", "packed"])
def test_saved_and_loaded_it_generates_the_same(family, whole, packed, tmp_path):
    small = trimmed(whole)
    if packed:
        small.apply_edit(Int8())
    (saved := tmp_path / "saved").mkdir()
    small.save(saved)
    again, inputs = load_folder(saved), encoded(small, TEXTS)
    first, second = (generate(model.anatomy, inputs, search_of(model)) for model in (small, again))
    assert (first == second).all() and again.network.config.pad_token_id == small.network.config.pad_token_id
    if not packed:  # plain transformers loads it
        kind = getattr(transformers, stock.CLASSES[family])
        other = kind.from_pretrained(saved).eval()
        given = {**inputs, "decoder_input_ids": inputs["input_ids"]}
        with torch.no_grad():
            torch.testing.assert_close(other(**given).logits, small.network(**given).logits, atol=1e-5, rtol=0)


def test_two_sentencepiece_models_are_cut_alike(tmp_path):
    """Marian as published: source.spm, target.spm and vocab.json."""
    words = [text for text, _, _ in spm.UNIGRAM_TOKENS]
    folder = stock.folder("marian", tmp_path / "published", words=words)
    (folder / "tokenizer.json").unlink()
    table = {text: number for number, text in enumerate(["</s>", "<unk>", *words, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(table))
    (folder / "tokenizer_config.json").write_text("{}")
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(spm.model())
    whole, texts = load_folder(folder), ["the film was good", "a good film"]
    small = trim_vocabulary(whole.clone(), texts, ["goods"], all_characters=False)
    assert len(small.tokenizer) < len(whole.tokenizer)
    for text in texts:
        assert small.tokenizer.tokenize(text) == whole.tokenizer.tokenize(text)
    assert small.network.config.decoder_vocab_size == len(small.tokenizer)
    (saved := tmp_path / "saved").mkdir()
    small.save(saved)
    assert load_folder(saved).tokenizer("a good film").input_ids == small.tokenizer("a good film").input_ids


def test_an_encoder_needs_no_targets():
    model = tiny.model("bert")
    size = len(model.tokenizer)
    small = trim_vocabulary(model, ["good bad film"], all_characters=False)
    assert small.anatomy.tokens.num_embeddings == len(small.tokenizer) < size


def test_a_decoder_with_tokens_of_its_own_is_rejected():
    model = tiny.model("bert", head="ConditionalGeneration")
    model.sibling_files[TARGET] = model.tokenizer.backend_tokenizer.to_str().encode()
    with pytest.raises(InputError, match="by the method 'vocabulary' of a recipe"):
        trim_vocabulary(model, ["good"])

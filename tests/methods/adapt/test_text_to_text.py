"""Encoder-decoders from a shape: sizes as stated, tokens of their own, and folders that transformers loads."""

import pytest
import torch
import transformers

import tiny
from niwaki.answers.text import Text
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.adapt._text_to_text import decoder_config
from niwaki.methods.adapt.from_scratch import FromScratch
from niwaki.models.family import family_of
from objectives.noisy import CLASSES, SHAPE, TEXTS


def from_scratch(family, start=None, **settings):
    context = Context(3, None, None, lambda *_: [], lambda *_: None, lambda *_: None, lambda: TEXTS)
    return FromScratch(**{**SHAPE, "family": family, **settings}).prepare(
        start or tiny.model("bert", layers=1), context
    )


@pytest.mark.parametrize("family", CLASSES)
def test_the_network_has_the_sizes_that_were_stated(family):
    model = from_scratch(family, decoder_layers=3)
    anatomy = model.anatomy
    assert (len(anatomy.layers), len(anatomy.decoder.layers), anatomy.hidden_size) == (2, 3, 24)
    assert {(layer.heads, layer.head_size) for layer in anatomy.every_layer} == {(3, 8)}
    assert (
        {layer.ffn_size for layer in anatomy.layers} == {cross.ffn_size for _, cross in anatomy.decoder.layers} == {40}
    )
    assert anatomy.tokens.num_embeddings == len(model.tokenizer) == 320
    dry = FromScratch(**{**SHAPE, "family": family, "decoder_layers": 3}).dry_prepare(tiny.model("bert", layers=1))
    shapes = [{name: value.shape for name, value in one.network.state_dict().items()} for one in (dry, model)]
    assert shapes[0] == shapes[1]


@pytest.mark.parametrize("family", CLASSES)
@torch.no_grad()
def test_transformers_loads_the_folder_and_computes_the_same(family, tmp_path):
    model = from_scratch(family)
    model.save(tmp_path)
    network, report = getattr(transformers, CLASSES[family]).from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"] and not report["unexpected_keys"] and not report["mismatched_keys"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    given = tokenizer(["the film was good", "it was"], return_tensors="pt", padding=True)
    assert given["input_ids"].tolist() == model.tokenizer(["the film was good", "it was"], padding=True)["input_ids"]
    labels = torch.tensor([[5, 6, 2], [7, 2, -100]])
    wanted = network.eval()(**given, labels=labels).logits
    torch.testing.assert_close(model.network.eval()(**given, labels=labels).logits, wanted, atol=1e-5, rtol=0)
    start = "eos" if family == "bart" else "pad"
    assert network.config.decoder_start_token_id == getattr(tokenizer, f"{start}_token_id")


def test_weights_follow_from_the_seed_and_are_as_the_family_draws_them():
    first, second = (from_scratch("t5", hidden_size=48).network for _ in range(2))
    assert all(torch.equal(value, second.state_dict()[name]) for name, value in first.state_dict().items())
    query, table = first.encoder.block[0].layer[0].SelfAttention.q.weight, first.shared.weight
    assert query.std().item() == pytest.approx((48 * 16) ** -0.5, rel=0.1)  # of hidden size × head size
    assert table.std().item() == pytest.approx(1.0, rel=0.05)


@pytest.mark.parametrize("family, first", [("t5", None), ("bart", 1)])
def test_sentinels_are_single_tokens(family, first):
    tokenizer = from_scratch(family).tokenizer
    ids = tokenizer("the <extra_id_0> was <extra_id_19>")["input_ids"]
    assert [one for one in ids if one >= 300] == [300, 319] and tokenizer.mask_token_id == 299
    assert ids[-1] == tokenizer.eos_token_id == 2 and (ids[0] == first) == (family == "bart")
    assert "extra_id" not in tokenizer.decode(ids, skip_special_tokens=True)


def test_bytes_need_no_trained_tokenizer():
    model = from_scratch("t5", split="bytes", sentinels=10)
    assert len(model.tokenizer) == model.anatomy.tokens.num_embeddings == 256 + 4 + 1 + 10
    assert len(model.tokenizer("水")["input_ids"]) == 3 + 1


def test_config_keys_are_those_of_the_family():
    sizes = {"num_layers": 2, "d_model": 24, "num_heads": 3, "d_ff": 40}
    found = decoder_config(family_of("t5"), sizes, 4)
    assert (found["d_kv"], found["num_decoder_layers"], found["d_ff"], found["decoder_start_token_id"]) == (8, 4, 40, 0)


def test_tasks_on_pairs_of_texts_are_rejected():
    start = tiny.model("bert", layers=1)
    start.network.config.niwaki_answer = Text().to_json()
    with pytest.raises(InputError, match="family 't5' is pretrained on plain texts; take task 'denoising'"):
        FromScratch(**{**SHAPE, "family": "t5"}).dry_prepare(start)


def test_an_encoder_does_not_replace_an_encoder_decoder():
    with pytest.raises(InputError, match="family 'bert' is an encoder, and the model generates text"):
        FromScratch(**{**SHAPE, "family": "bert"}).dry_prepare(from_scratch("bart"))
    assert from_scratch("bart", start=from_scratch("t5")).network.config.model_type == "bart"

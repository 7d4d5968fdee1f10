"""XLNet as published: its tokenizer, matrices that checkpoints store as parameters, padding on the other side."""

import json

import pytest
import torch
from transformers import XLNetConfig, XLNetForSequenceClassification

import spm
import tiny
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.heads import Heads
from niwaki.models.forward import Batch, forward
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.skeleton import build
from niwaki.models.tokenizer_loading import load_tokenizer

SPECIAL = [("<unk>", 0.0, spm.UNKNOWN)]
SPECIAL += [(name, 0.0, spm.CONTROL) for name in ("<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>")]


def published(folder):
    torch.manual_seed(1)
    sizes = {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 40, "num_labels": 3, "pad_token_id": 5}
    network = XLNetForSequenceClassification(XLNetConfig(vocab_size=len(SPECIAL) + len(spm.UNIGRAM_TOKENS), **sizes))
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 10)
    network.eval().save_pretrained(folder)
    (folder / "spiece.model").write_bytes(spm.model(special=SPECIAL))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "XLNetTokenizer"}))
    return network


def padded_left(inputs):
    """As transformers' tokenizer pads; the type of padding is 3 there."""
    left = {}
    for name, rows in inputs.items():
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        left[name] = torch.stack([row.roll(len(row) - length) for row, length in zip(rows, lengths, strict=True)])
    return left


def test_published_checkpoints_have_the_logits_and_gradients_of_transformers(tmp_path):
    reference, model = published(tmp_path), load_folder(tmp_path, Head(["a", "b", "c"]))
    texts = [("the film was good", "a film"), ("goods", "the"), ("was it a film, the good film", "the film")]
    given = model.tokenizer(
        [one for one, _ in texts],
        [two for _, two in texts],
        return_tensors="pt",
        padding=True,
        padding_side="right",
        return_token_type_ids=True,
    )
    assert given["token_type_ids"].max() == 2  # of the class token, which is the last one
    batch = Batch(dict(given), given["attention_mask"], torch.arange(3))
    found, wanted = forward(model.anatomy, batch).logits, reference(**padded_left(given)).logits
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    weights = torch.randn(found.shape, generator=torch.Generator().manual_seed(1))
    for logits in (found, wanted):
        (logits * weights).sum().backward()
    own = {name: value.grad for name, value in model.network.named_parameters()}
    for name in ("q", "k", "v", "r"):
        theirs = reference.get_parameter(f"transformer.layer.1.rel_attn.{name}").grad
        full = {"q": "query", "k": "key", "v": "value", "r": "distance"}[name]
        mine = own[f"transformer.layer.1.rel_attn.{full}.weight"]
        torch.testing.assert_close(mine.T, theirs.flatten(1), atol=1e-4, rtol=0)
    out = reference.get_parameter("transformer.layer.1.rel_attn.o").grad.flatten(1)
    torch.testing.assert_close(own["transformer.layer.1.rel_attn.out.weight"], out, atol=1e-4, rtol=0)
    for name in ("transformer.word_embedding.weight", "transformer.layer.0.rel_attn.seg_embed"):
        torch.testing.assert_close(own[name], reference.get_parameter(name).grad, atol=1e-4, rtol=0)


def test_the_class_token_stands_behind_the_text_and_has_a_type_of_its_own(tmp_path):
    published(tmp_path)
    found = load_tokenizer(tmp_path, {"model_type": "xlnet"})
    ours = found("the  film é", "was", return_token_type_ids=True)
    tokens = ["▁the", "▁film", "▁", "e", "<sep>", "▁was", "<sep>", "<cls>"]  # accents are removed
    assert found.convert_ids_to_tokens(ours.input_ids) == tokens
    assert ours.token_type_ids == [0, 0, 0, 0, 0, 1, 1, 2]


def test_saved_tensors_are_those_of_the_checkpoint(tmp_path):
    reference, again = published(tmp_path), tmp_path / "again"
    again.mkdir()
    model = load_folder(tmp_path)
    model.save(again)
    stored = XLNetForSequenceClassification.from_pretrained(again).state_dict()
    assert all(torch.equal(value, stored[name]) for name, value in reference.state_dict().items())


@torch.no_grad()
def test_heads_lose_their_vectors_too(tmp_path):
    """A model whose other heads write nothing gives the same logits."""
    model = tiny.model("xlnet")
    batch, keep = tiny.batch(model, pairs=True), [[0, 2], [1, 2, 3], [3]]
    for layer, heads in zip(model.anatomy.layers, keep, strict=True):
        gone = [head for head in range(4) if head not in heads]
        for head in gone:
            layer.part("out").weight[:, head * 8 : head * 8 + 8] = 0
    wanted = forward(model.anatomy, batch).logits
    model.apply_edit(Heads(keep=keep))
    assert model.anatomy.layers[2].part("attention_module").seg_embed.shape == (2, 1, 8)
    torch.testing.assert_close(forward(model.anatomy, batch).logits, wanted, atol=1e-5, rtol=0)
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, forward(model.anatomy, batch).logits)


@pytest.mark.parametrize(("key", "value"), [("attn_type", "uni"), ("clamp_len", 10), ("summary_type", "first")])
def test_other_networks_are_rejected_by_name(key, value):
    values = tiny.config("xlnet", 1, 32, 4, 64, tiny.LABELS, "SequenceClassification")
    with pytest.raises(InputError, match=f"an xlnet with {key} = {value} is not supported"):
        build({**values, key: value})


def test_the_span_head_answers_in_onnx_runtime(tmp_path):
    """transformers' simple head for spans; the answer type follows from the name of its class."""
    model = tiny.model("xlnet", layers=1, head="QuestionAnswering")
    predictor = Predictor(tiny.with_graphs(model, tmp_path / "model"), "onnx")
    pairs = [("the film", "was the film good"), ("plot", "a warm plot")]
    rows = predictor.tokenize(pairs)
    given = model.tokenizer(*map(list, zip(*pairs, strict=True)), padding=True, return_tensors="pt")
    wanted = forward(model.anatomy, Batch(dict(given), given["attention_mask"], torch.arange(2))).logits
    found = torch.from_numpy(predictor.logits(rows))
    torch.testing.assert_close(found, wanted[given["attention_mask"].bool()], atol=1e-4, rtol=0)
    assert all(one.answer in text for one, (_, text) in zip(predictor.predict(pairs), pairs, strict=True))

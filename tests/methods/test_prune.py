"""Pruning, packing and freezing: the numbers by hand."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.methods._method import Context
from niwaki.methods.adapt.freeze import Freeze
from niwaki.methods.prune.ffn import Ffn, round_up_share
from niwaki.methods.prune.heads import Heads
from niwaki.methods.prune.vocabulary import Vocabulary
from niwaki.methods.quantize.int8 import Int8
from niwaki.models.packed.int8 import Int8Embedding, Int8Linear

TEXTS = [text for text, _ in tiny.sentences(8)]
LOSS = torch.nn.functional.cross_entropy
CONTEXT = Context(
    0,
    None,
    None,
    lambda model, count: [tiny.batch(model)] * min(count, 2),
    lambda model, batch: LOSS(model.network(**batch.inputs).logits, batch.targets),
    None,
    lambda: TEXTS,
)


def test_width_by_hand():
    assert round_up_share(1536, 0.33, 64) == 512  # 506.9 rounded up to the next 64
    assert round_up_share(1536, 0.5, 64) == 768
    assert round_up_share(64, 0.5, 64) == 64  # never more than there are
    assert round_up_share(100, 0.99, 64) == 100
    assert round_up_share(10, 0.01, 1) >= 1


def test_heads_that_are_not_listened_to_go_first():
    model = tiny.model("bert")
    for number, layer in enumerate(model.anatomy.layers):
        with torch.no_grad():
            layer.part("out").weight[:, 8 * number : 8 * number + 8] = 0
    before = tiny.logits(model, tiny.batch(model))
    model = Heads(keep=0.75).prepare(model, CONTEXT)
    assert [layer.heads for layer in model.anatomy.layers] == [3, 3, 3]
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-5, rtol=0)


def test_at_least_one_head_stays():
    assert [layer.heads for layer in Heads(keep=0.01).prepare(tiny.model("bert"), CONTEXT).anatomy.layers] == [1, 1, 1]


def test_neurons_that_are_not_listened_to_go_first():
    model = tiny.model("bert")
    for layer in model.anatomy.layers:
        with torch.no_grad():
            layer.part("ffn_out").weight[:, 1::2] = 0
    before = tiny.logits(model, tiny.batch(model))
    model = Ffn(keep=0.5, multiple=1).prepare(model, CONTEXT)
    assert [layer.ffn_size for layer in model.anatomy.layers] == [32, 32, 32]
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before, atol=1e-5, rtol=0)


def test_vocabulary_keeps_the_answers_on_its_texts():
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model, count=8))
    size = len(model.tokenizer)
    model = Vocabulary().prepare(model, CONTEXT)
    assert len(model.tokenizer) == model.anatomy.tokens.num_embeddings == model.network.config.vocab_size < size
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model, count=8)), before, atol=1e-6, rtol=0)


@pytest.mark.parametrize("embeddings", [True, False])
def test_int8_packs_what_it_says(embeddings):
    model = Int8(embeddings=embeddings).finish(tiny.model("electra"))
    assert all(isinstance(model.network.get_submodule(path), Int8Linear) for path in model.anatomy.matrices())
    assert isinstance(model.anatomy.tokens, Int8Embedding) == embeddings
    assert isinstance(model.network.classifier.out_proj, torch.nn.Linear)


def test_freeze_and_thaw():
    model = Freeze(layers=2).prepare(tiny.model("bert"), CONTEXT)
    frozen = {name for name, parameter in model.network.named_parameters() if not parameter.requires_grad}
    assert frozen and all(".embeddings." in name or ".layer.0." in name or ".layer.1." in name for name in frozen)
    assert any(".layer.1.output" in name for name in frozen)
    assert all(parameter.requires_grad for parameter in Freeze().finish(model).network.parameters())
    with pytest.raises(InputError, match="layers is 4 and the model has 3"):
        Freeze(layers=4).prepare(tiny.model("bert"), CONTEXT)

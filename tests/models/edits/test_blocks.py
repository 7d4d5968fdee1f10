"""Whole blocks taken out: what is left gives what the whole gives with what they say switched off."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.evaluate.footprint import flops
from niwaki.models.activations import run_with
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.factored import Factored
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.kronecker import Kronecker
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.forward import run_padded
from niwaki.models.model import load_folder

AFTER = {
    "nothing": [],
    "width": [HiddenSize(keep=[number for number in range(32) if number % 3])],
    "int8": [Int8()],
    "digits": [LowBit(base=16)],
    "factored": [Factored(ranks=[1] * 15)],  # of 18 matrices, three are no more
    "more blocks": [Blocks(attention=[0], ffn=[])],
}


def switched_off(model, attention, ffn):
    """Nothing is read by the matrix that the block ends with: its bias stays."""
    whole = model.clone()
    for part, numbers in (("out", attention), ("ffn_out", ffn)):
        for number in numbers:
            whole.anatomy.layers[number].part(part).register_forward_pre_hook(lambda _, args: (0 * args[0],))
    return whole


def lean(model, batch):
    with torch.no_grad():
        return run_padded(model.anatomy, batch.inputs)


@pytest.mark.parametrize("family", [name for name in tiny.SIZED if name != "albert"])
def test_removed_blocks_equal_blocks_with_zero_output(family, tmp_path):
    model = tiny.model(family, head="TokenClassification")
    off = switched_off(model, [1], [0, 2])
    model.apply_edit(Blocks(attention=[1], ffn=[0, 2]))
    batch = tiny.batch(model)
    torch.testing.assert_close(tiny.logits(model, batch), tiny.logits(off, batch), atol=1e-5, rtol=0)
    torch.testing.assert_close(
        tiny.real(lean(model, batch), batch), tiny.real(tiny.logits(model, batch), batch), atol=2e-5, rtol=0
    )
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


@pytest.mark.parametrize("after", AFTER)
def test_what_is_left_is_cut_packed_and_factorized_like_the_rest(after, tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[1], ffn=[0, 2]))
    for edit in AFTER[after]:
        model.apply_edit(edit)
    batch = tiny.batch(model)
    torch.testing.assert_close(lean(model, batch), tiny.logits(model, batch), atol=1e-4, rtol=0)
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


BEFORE = {
    "int8": Int8(),
    "digits": LowBit(base=3),
    "sparse": Sparse(),
    "factored": Factored(ranks=[5] * 18),
    "kronecker": Kronecker(sizes=[(4, 4, 2)] * 18),
}


@pytest.mark.parametrize("before", BEFORE)
def test_packed_blocks_are_removed(before, tmp_path):
    model = tiny.model("bert")
    model.apply_edit(BEFORE[before])
    off = switched_off(model, [0], [2])
    model.apply_edit(Blocks(attention=[0], ffn=[2]))
    batch = tiny.batch(model)
    torch.testing.assert_close(tiny.logits(model, batch), tiny.logits(off, batch), atol=1e-4, rtol=0)
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


def test_deployed_nothing_of_a_block_that_is_gone_is_run(tmp_path):
    model = tiny.model("bert")
    before = flops(model, 10)
    model.apply_edit(Blocks(attention=[1], ffn=[0]))
    projections, scores = 4 * 2 * 10 * 32 * 32, 2 * 2 * 10 * 10 * 32
    assert before - flops(model, 10) == projections + scores + 2 * 2 * 10 * 32 * 64
    model.save(tmp_path)
    write_graph(model, tmp_path)
    predictor = Predictor(tmp_path)
    texts = [text for text, _ in tiny.sentences(4)]
    own = [lean(model, one) for one in (batch_of(model, text) for text in texts)]
    np.testing.assert_allclose(predictor.logits(predictor.tokenize(texts)), torch.cat(own).numpy(), atol=1e-4)


def batch_of(model, text):
    found = model.tokenizer(text, return_tensors="pt")
    batch = tiny.batch(model)
    batch.inputs.clear()
    batch.inputs.update(found)
    return batch


def test_a_layer_that_shared_a_block_leaves_it_to_the_others():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 0]))
    off = switched_off_alone(model, 1)
    model.apply_edit(Blocks(attention=[1], ffn=[]))
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), off, atol=1e-5, rtol=0)
    assert model.anatomy.layers[0].heads == model.anatomy.layers[2].heads == 4


def switched_off_alone(model, number):
    """As `switched_off` for one of several layers that share the matrix."""
    whole = model.clone()
    layer = whole.anatomy.layers[number]
    shared = layer.part("out")
    silent = torch.nn.Linear(32, 32)
    silent.weight.data.zero_()
    silent.bias.data.copy_(shared.bias)
    layer.replace("out", silent)
    return tiny.logits(whole, tiny.batch(model))


def test_teachers_without_a_block_still_show_every_depth():
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[1], ffn=[]))
    names = ["scores.2", "queries.0", "hidden.3"]
    batch = tiny.batch(model)
    with torch.no_grad():
        _, scores, queries, hidden = run_with(model.anatomy, batch.inputs, names)
    assert scores.shape[1] == 4 and queries.shape[-1] == 32 and hidden.shape[-1] == 32


@pytest.mark.parametrize(
    "edit", [Blocks(attention=[3], ffn=[]), Blocks(attention=[], ffn=[1, 1]), Blocks(attention=[-1], ffn=[])]
)
def test_missing_blocks_are_rejected(edit):
    with pytest.raises(InputError, match="must name different layers that have the block, of 3"):
        tiny.model("bert").apply_edit(edit)


def test_a_block_goes_once_and_one_attention_stays():
    model = tiny.model("bert")
    model.apply_edit(Blocks(attention=[1], ffn=[]))
    with pytest.raises(InputError, match="have the block"):
        model.apply_edit(Blocks(attention=[1], ffn=[]))
    with pytest.raises(InputError, match="at least one attention block of each kind must stay"):
        model.apply_edit(Blocks(attention=[0, 2], ffn=[]))
    with pytest.raises(InputError, match="at least one attention block of each kind must stay"):
        tiny.model("albert").apply_edit(Blocks(attention=[0], ffn=[]))
    model.apply_edit(Heads(keep=[2, 1, 2]))

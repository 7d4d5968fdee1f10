"""A network that writes: its decoder is torch's own, one token further is as all at once, and the anatomy finds all of both sides."""

import pytest
import torch
from torch import nn

import tiny
from niwaki.core.errors import Refused
from niwaki.models.anatomy import anatomy_of
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.forward import HIDDEN, forward, real_inputs
from niwaki.models.model import load_folder
from niwaki.models.networks.writer import waves
from writers import KINDS, by_torch, step_by_step, writer


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return writer(request.param)


def test_the_decoder_is_torchs_own(model):
    batch = tiny.batch(model)
    found = forward(model.network.eval(), model.anatomy, batch).logits
    assert found.shape == (*batch.targets.shape, model.network.config.decoder_pieces) and found.std() > 0.05
    torch.testing.assert_close(found, by_torch(model, batch), atol=2e-5, rtol=0)


@pytest.mark.parametrize("hypotheses", [1, 3])
def test_one_token_further_is_as_all_at_once(model, hypotheses):
    batch = tiny.batch(model)
    wanted = forward(model.network.eval(), model.anatomy, batch).logits.log_softmax(-1)
    torch.testing.assert_close(step_by_step(model, batch, hypotheses), wanted, atol=2e-5, rtol=0)


def test_waves_are_those_of_the_paper():
    """Sines, then cosines, of the place over 10000 to the power of the share of the width."""
    found = waves(torch.tensor([3]), 4)[0]
    angles = torch.tensor([3.0, 3.0 / 10000**0.5])
    torch.testing.assert_close(found, torch.cat([angles.sin(), angles.cos()]))


def test_anatomy_finds_every_matrix_and_table_once(model):
    anatomy, network = model.anatomy, model.network
    named = {name for name, module in network.named_modules() if isinstance(module, nn.Linear)}
    found = list(anatomy.matrices())
    assert len(found) == len(set(found)) and set(found) == named
    tables = {
        name for name, module in network.named_modules(remove_duplicate=False) if isinstance(module, nn.Embedding)
    }
    assert tables - set(anatomy.tables()) <= {"mpnet.encoder.relative_attention_bias", "roberta.embeddings.token_type_embeddings"}  # fmt: skip
    assert set(anatomy.tables()) <= tables
    shared = anatomy.tokens is network.decoder.pieces
    assert shared == network.config.decoder_shares and len(anatomy.whole_token_tables()) == 2


def test_anatomy_knows_stacks_kinds_and_the_config(model):
    anatomy, config = model.anatomy, model.network.config
    encoder = len(anatomy.layers)
    assert [len(stack) for stack in anatomy.stacks.values()] == [encoder, config.decoder_layers] == [encoder, 2]
    assert len(anatomy.attentions) == encoder + 4 and len(anatomy.blocks) == encoder + 2
    assert anatomy.attention_kinds == [list(range(encoder)), [encoder, encoder + 2], [encoder + 1, encoder + 3]]
    assert {layer.heads for layer in anatomy.attentions} == {config.decoder_heads} == {4}
    assert {block.neurons for block in anatomy.blocks} == {config.decoder_neurons} == {64}
    shape = anatomy.shape(5, 16, 2, 24)
    assert shape[anatomy.depth_key] == 5 and shape["decoder_heads"] == 2 and shape["decoder_neurons"] == 24


def test_what_a_matrix_reads_is_what_was_read_or_what_is_written(model):
    """Padding is left out of both, also where both happen to be as long."""
    batch = tiny.batch(model)
    seen = {}
    for path in model.anatomy.matrices():
        keep = lambda module, args, path=path: seen.update({path: args[0]})  # noqa: E731
        model.network.get_submodule(path).register_forward_pre_hook(keep)
    forward(model.network, model.anatomy, batch)
    read, written = int(batch.mask.sum()), int((batch.targets >= 0).sum())
    assert read != written
    for path, x in seen.items():
        of_text = not path.startswith("decoder") or ".other.key" in path or ".other.value" in path
        assert model.anatomy.reads_written(path) != of_text
        assert len(real_inputs(model.anatomy, path, x, batch)) == (read if of_text else written), path
    for path in seen:
        model.network.get_submodule(path)._forward_pre_hooks.clear()


def test_layers_that_are_compared_are_the_encoders(model):
    batch = tiny.batch(model)
    found = forward(model.network, model.anatomy, batch, frozenset({HIDDEN})).hidden
    assert len(found) == len(model.anatomy.order) + 1
    assert all(state.shape == (*batch.mask.shape, 32) for state in found)


def test_saved_and_loaded_it_is_the_same(model, tmp_path):
    model.save(tmp_path)
    found, batch = load_folder(tmp_path), tiny.batch(model)
    assert torch.equal(tiny.logits(found, batch), tiny.logits(model, batch))
    assert (found.anatomy.tokens is found.network.decoder.pieces) == model.network.config.decoder_shares
    assert type(anatomy_of(found.network)) is type(model.anatomy)


def test_a_shared_table_keeps_its_pieces():
    with pytest.raises(Refused, match="vocabulary: the network writes with the table that it reads with"):
        writer("shared").operate(Vocabulary(keep=30))

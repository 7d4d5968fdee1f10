"""A network that writes: its decoder is torch's own, one token further is as all at once, and the anatomy finds all of both sides."""

import itertools

import pytest
import torch
from torch import nn

import tiny
from niwaki.core.errors import InputError
from niwaki.models.anatomy import anatomy_of
from niwaki.models.edits.blocks import attention_kinds
from niwaki.models.edits.decoder import Decoder
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.embedding_tables import all_tables, whole_token_tables
from niwaki.models.forward import forward, real_inputs
from niwaki.models.model import load_folder
from niwaki.models.networks.encoder_decoder import sinusoids
from niwaki.models.record import DECODER_HIDDEN, HIDDEN, SCORES
from niwaki.models.sizes import config_sizes
from seq2seq import KINDS, PREFIXES, by_torch, seq2seq_model, step_by_step


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return seq2seq_model(request.param)


def test_the_decoder_is_torchs_own(model):
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch).logits
    assert found.shape == (*batch.targets.shape, model.network.config.decoder_vocabulary_size) and found.std() > 0.05
    torch.testing.assert_close(found, by_torch(model, batch), atol=2e-5, rtol=0)


@pytest.mark.parametrize("hypotheses", [1, 3])
@pytest.mark.parametrize("kind", [*KINDS, *PREFIXES])
def test_one_token_further_is_as_all_at_once(kind, hypotheses):
    model = seq2seq_model(kind)
    batch = tiny.batch(model)
    wanted = forward(model.anatomy, batch).logits.log_softmax(-1)
    torch.testing.assert_close(step_by_step(model, batch, hypotheses), wanted, atol=2e-5, rtol=0)


@pytest.fixture(scope="module", params=PREFIXES)
def one_stack(request):
    return seq2seq_model(request.param)


def prefix_mask(batch):
    """Token by token: (batch, 1, both, both), 0 where one may read another."""
    real, written = batch.mask, batch.inputs["decoder_input_ids"].shape[1]
    tokens = real.shape[1]
    found = torch.full((len(real), 1, tokens + written, tokens + written), -1e4)
    for text, row, column in itertools.product(*map(range, (len(real), tokens + written, tokens + written))):
        reads_text = column < tokens and real[text, column]
        reads_before = column >= tokens and row >= column
        if reads_text or reads_before:
            found[text, 0, row, column] = 0.0
    return found


@torch.no_grad()
def test_one_stack_is_transformers_own_under_a_prefix_mask(one_stack):
    """The encoder's layers as transformers runs them, over the text and what is written behind it."""
    batch, network = tiny.batch(one_stack), one_stack.network.eval()
    ids = batch.inputs["decoder_input_ids"]
    decoder, layers = network.decoder, one_stack.anatomy.layers
    written = decoder.norm(decoder.tokens(ids) + decoder.positions(torch.arange(ids.shape[1])))
    read = one_stack.anatomy.inputs.forward(batch.inputs)
    hidden = torch.cat([read, written], dim=1)
    for number in one_stack.anatomy.order:
        hidden = layers[number].module(hidden, attention_mask=prefix_mask(batch))
        hidden = hidden[0] if isinstance(hidden, tuple) else hidden
    wanted = hidden[:, read.shape[1] :] @ decoder.tokens.weight.T
    found = forward(one_stack.anatomy, batch, frozenset({HIDDEN, SCORES, DECODER_HIDDEN}))
    torch.testing.assert_close(found.logits, wanted, atol=2e-5, rtol=0)
    assert (
        found.logits.std() > 0.05 and len(found.hidden) == len(found.decoder_hidden) == len(one_stack.anatomy.order) + 1
    )
    assert {one.shape[1] for one in found.hidden} == {read.shape[1]} == {one.shape[-1] for one in found.scores}


def test_one_stack_has_no_decoder_to_cut(one_stack):
    anatomy = one_stack.anatomy
    assert list(anatomy.stacks) == ["layer"] and len(anatomy.blocks) == len(anatomy.layers)
    assert {name for name, module in one_stack.network.named_modules() if isinstance(module, nn.Linear)} == set(
        anatomy.matrices()
    )
    with pytest.raises(InputError, match="decoder: this model has no decoder"):
        one_stack.clone().apply_edit(Decoder(keep=1))


def test_a_matrix_of_one_stack_reads_both_without_padding(one_stack):
    batch, seen = tiny.batch(one_stack), {}
    path = next(path for path in one_stack.anatomy.matrices() if "query" in path or "q_lin" in path)
    handle = one_stack.network.get_submodule(path).register_forward_pre_hook(
        lambda module, args: seen.update(x=args[0])
    )
    forward(one_stack.anatomy, batch)
    handle.remove()
    wanted = int(batch.mask.sum() + batch.generated.sum())
    assert len(real_inputs(one_stack.anatomy, path, seen["x"], batch)) == wanted < seen["x"][..., 0].numel()


def test_what_reads_by_distance_is_given_a_decoder():
    with pytest.raises(InputError, match="niwaki_encoder 'mpnet' reads by distance"):
        seq2seq_model("mpnet", decoder_layers=0)


def test_waves_are_those_of_the_paper():
    """Sines, then cosines, of the place over 10000 to the power of the share of the width."""
    found = sinusoids(torch.tensor([3]), 4)[0]
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
    assert tables - set(all_tables(anatomy)) <= {
        "mpnet.encoder.relative_attention_bias",
        "roformer.encoder.embed_positions",
        "roberta.embeddings.token_type_embeddings",
    }
    assert set(all_tables(anatomy)) <= tables
    if anatomy.family.inputs.reads == "images":
        assert whole_token_tables(anatomy) == ["decoder.tokens"]
        return
    shared = anatomy.tokens is network.decoder.tokens
    assert shared == network.config.decoder_shares_embeddings and len(whole_token_tables(anatomy)) == 2


def test_anatomy_knows_stacks_kinds_and_the_config(model):
    anatomy, config = model.anatomy, model.network.config
    encoder = len(anatomy.layers)
    assert [len(stack) for stack in anatomy.stacks.values()] == [encoder, config.decoder_layers] == [encoder, 2]
    assert (
        len(anatomy.attentions) == encoder + 4
        and len(anatomy.blocks) == len(anatomy.layers[0].feed_forward.blocks("")) * encoder + 2
    )
    assert attention_kinds(anatomy) == [list(range(encoder)), [encoder, encoder + 2], [encoder + 1, encoder + 3]]
    assert {layer.heads for layer in anatomy.attentions} == {config.decoder_heads} == {4}
    assert {block.ffn_size for block in anatomy.blocks[-2:]} == {config.decoder_ffn_size} == {64}
    shape = config_sizes(anatomy, 5, 16, 2, 24)
    assert shape[anatomy.family.keys.depth] == 5 and shape["decoder_heads"] == 2 and shape["decoder_ffn_size"] == 24


def test_what_a_matrix_reads_is_what_was_read_or_what_is_written(model):
    """Padding is left out of both, also where both happen to be as long."""
    batch = tiny.batch(model)
    seen = {}
    for path in model.anatomy.matrices():
        keep = lambda module, args, path=path: seen.update({path: seen.get(path, args[0])})  # noqa: E731
        model.network.get_submodule(path).register_forward_pre_hook(keep)
    forward(model.anatomy, batch)
    read, written = int(batch.mask.sum()), int((batch.targets >= 0).sum())
    assert read != written
    for path, x in seen.items():
        if path.endswith((".distance", "patch_embeddings.projection")):  # reads no tokens
            continue
        of_text = not path.startswith("decoder") or ".other.key" in path or ".other.value" in path
        assert len(real_inputs(model.anatomy, path, x, batch)) == (read if of_text else written), path
    for path in seen:
        model.network.get_submodule(path)._forward_pre_hooks.clear()


def test_layers_that_are_compared_are_the_encoders(model):
    batch = tiny.batch(model)
    found = forward(model.anatomy, batch, frozenset({HIDDEN})).hidden
    assert len(found) == len(model.anatomy.order) + 1
    assert all(state.shape == (*batch.mask.shape, 32) for state in found)


def test_saved_and_loaded_it_is_the_same(model, tmp_path):
    model.save(tmp_path)
    found, batch = load_folder(tmp_path), tiny.batch(model)
    assert torch.equal(tiny.logits(found, batch), tiny.logits(model, batch))
    if found.anatomy.family.inputs.reads == "images":
        return
    assert (found.anatomy.tokens is found.network.decoder.tokens) == model.network.config.decoder_shares_embeddings
    assert type(anatomy_of(found.network)) is type(model.anatomy)


def test_a_shared_table_keeps_its_tokens():
    with pytest.raises(InputError, match="vocabulary: encoder and decoder share the token table"):
        seq2seq_model("shared").apply_edit(Vocabulary(keep=30))


@torch.no_grad()
def test_images_need_no_mask():
    model = seq2seq_model("vit")
    batch = tiny.batch(model)
    given = {name: value for name, value in batch.inputs.items() if name != "attention_mask"}
    assert torch.equal(model.network.eval()(**given).logits, tiny.logits(model, batch))

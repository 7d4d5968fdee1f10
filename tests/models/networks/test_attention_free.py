"""Networks without attention under every head they have: alone and in a batch, cut, packed, saved, and what they reject."""

import copy
import random

import numpy as np
import pytest
import torch

import new_process
import tiny
from niwaki.core.errors import InputError
from niwaki.models.depths import depths
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.embedding_tables import all_tables
from niwaki.models.forward import Batch, forward, run_padded
from niwaki.models.head import Head
from niwaki.models.importance import gates, importance
from niwaki.models.model import load_folder
from niwaki.models.packed.int8 import Int8Embedding
from niwaki.models.record import HIDDEN
from niwaki.models.skeleton import HEADS
from niwaki.tokenization.trimming import trimmed, used_tokens

SEQUENCE_CLASSIFICATION = "SequenceClassification"
CASES = [
    (family, head)
    for family in tiny.READERS
    for head in HEADS
    if family != "averaging" or head == SEQUENCE_CLASSIFICATION
]


@pytest.fixture(params=CASES, ids=" ".join)
def model(request):
    family, head = request.param
    return tiny.model(family, layers=2, head=head)


@torch.no_grad()
def logits(model, batch):
    return forward(model.anatomy, batch).logits


def alone(batch, number):
    """One row of a batch without its padding."""
    length = int(batch.mask[number].sum())
    inputs = {name: value[number : number + 1, :length] for name, value in batch.inputs.items()}
    return Batch(inputs, batch.targets[number : number + 1], batch.rows[number : number + 1])


def without_padding(model, found, batch):
    return found[batch.mask.bool()] if model.anatomy.per_token else found


@pytest.mark.parametrize("pairs", [False, True])
def test_padding_changes_no_answer(model, pairs):
    batch = tiny.batch(model, pairs=pairs)
    together = logits(model, batch)
    assert together.std() > 0.01
    for number in range(len(together)):
        found = logits(model, alone(batch, number))[0]
        wanted = together[number, : len(found)] if model.anatomy.per_token else together[number]
        torch.testing.assert_close(found, wanted, atol=3e-5, rtol=0)
    other = {
        **batch.inputs,
        "input_ids": torch.where(batch.mask == 0, 9, batch.inputs["input_ids"]),
    }  # pads of another id
    found = logits(model, Batch(other, batch.targets, batch.rows))
    assert torch.equal(*(without_padding(model, one, batch) for one in (found, together)))


@torch.no_grad()
def test_lean_is_what_trains_and_hidden_states_are_shown(model):
    batch = tiny.batch(model, pairs=True)
    model.network.eval()
    lean = run_padded(model.anatomy, batch.inputs)
    assert torch.equal(lean, logits(model, batch))
    hidden = forward(model.anatomy, batch, frozenset({HIDDEN})).hidden
    assert len(hidden) == 1 + (len(depths(model.anatomy)) if model.anatomy.family.head.vocabulary else 1)
    assert all(state.shape[:2] == batch.mask.shape for state in hidden)


def test_which_text_a_token_belongs_to_is_seen(model):
    batch = tiny.batch(model, pairs=True)
    ids = batch.inputs["input_ids"].clone()
    ids[ids == model.tokenizer.sep_token_id] = 9
    other = Batch({**batch.inputs, "input_ids": ids}, batch.targets, batch.rows)
    model.network.body.embeddings.word_embeddings.weight.data[9] = model.network.body.embeddings.word_embeddings.weight[
        model.tokenizer.sep_token_id
    ]
    if model.network.config.model_type == "averaging":
        weights = model.network.body.embeddings.token_weights.weight.data
        weights[9] = weights[model.tokenizer.sep_token_id]
    assert not torch.allclose(logits(model, other), logits(model, batch), atol=1e-3)


def test_the_anatomy_knows_its_parts(model):
    anatomy = model.anatomy
    assert (
        anatomy.layers == []
        and anatomy.order == []
        and anatomy.hidden_size == 32
        and not anatomy.family.inputs.uses_token_types
    )
    assert anatomy.tokens.num_embeddings == len(model.tokenizer) and anatomy.max_tokens == 64
    linear = {name for name, module in model.network.named_modules() if isinstance(module, torch.nn.Linear)}
    found = list(anatomy.matrices())
    assert len(found) == len(set(found)) and linear - set(found) == {anatomy.head.final}
    tables = {name for name, module in model.network.named_modules() if isinstance(module, torch.nn.Embedding)}
    assert set(all_tables(anatomy)) == set(anatomy.inputs.vocabulary_tables) == tables


def some_of_each(model):
    draw = random.Random(0)
    return Ffn(
        keep=[
            sorted(draw.sample(range(block.ffn_size), block.ffn_size // 2 + number))
            for number, block in enumerate(model.anatomy.blocks)
        ]
    )


@torch.no_grad()
def test_neurons_and_filters_that_are_cut_are_those_that_were_switched_off(model, tmp_path):
    batch, edit = tiny.batch(model, pairs=True), some_of_each(model)
    off = copy.deepcopy(model)
    neurons = [torch.zeros(block.ffn_size) for block in off.anatomy.blocks]
    for gate, keep in zip(neurons, edit.keep, strict=True):
        gate[keep] = 1
    with gates(off.anatomy, [], neurons):
        wanted = logits(off, batch)
    model.apply_edit(edit)
    torch.testing.assert_close(logits(model, batch), wanted, atol=1e-5, rtol=0)
    assert [block.ffn_size for block in model.anatomy.blocks] == [len(keep) for keep in edit.keep]
    model.save(tmp_path)
    assert torch.equal(logits(load_folder(tmp_path), batch), logits(model, batch))


def test_even_cuts_need_no_blueprint_and_uneven_ones_do(model):
    uneven = copy.deepcopy(model)
    model.apply_edit(Ffn(keep=[3] * len(model.anatomy.blocks)))
    assert model.blueprint.edits == [] and model.network.config.hidden_size == 3
    uneven.apply_edit(Ffn(keep=[3 + number % 2 for number in range(len(uneven.anatomy.blocks))]))
    assert bool(uneven.blueprint.edits) == (len(uneven.anatomy.blocks) > 1)


def test_importance_is_the_slope_of_the_loss():
    """Against finite differences, of a filter, and of a hidden neuron."""
    model = tiny.model("cnn")
    model.network.double()
    batch = tiny.batch(model, pairs=True)

    def loss(model, batch):
        return torch.nn.functional.cross_entropy(model.network(**batch.inputs).logits, batch.targets)

    worth = importance(model, [batch], loss)
    assert worth.heads == [] and len(worth.neurons) == 4
    for block, neuron in ((1, 2), (3, 5)):
        found = []
        for sign in (1, -1):
            neurons = [torch.ones(one.ffn_size) for one in model.anatomy.blocks]
            neurons[block][neuron] += sign * 1e-3
            with torch.no_grad(), gates(model.anatomy, [], neurons):
                found.append(loss(model, batch).item())
        assert worth.neurons[block][neuron].item() == pytest.approx(abs(found[0] - found[1]) / 2e-3, rel=1e-3, abs=1e-7)


def test_a_trimmed_vocabulary_keeps_the_answers(model, tmp_path):
    """The separator has another number then, also when the model is loaded again from a blueprint that only counts tokens."""
    model.apply_edit(Int8(embeddings=False))
    before = logits(model, tiny.batch(model, pairs=True))
    keep = used_tokens(model.tokenizer.backend_tokenizer, [text for text, _ in tiny.sentences(6)], 1)
    keep = [*keep[5:], *keep[:5]]  # the marks come last
    model.tokenizer = trimmed(model.tokenizer, keep)
    model.apply_edit(Vocabulary(keep=keep))
    assert model.network.config.sep_token_id == model.tokenizer.sep_token_id > 50
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert [edit.label() for edit in again.blueprint.edits] == ["int8", "vocabulary"]
    for one in (model, again):
        found = logits(one, tiny.batch(one, pairs=True))
        mask = tiny.batch(one, pairs=True).mask.bool()
        own, wanted = (part[mask] if one.anatomy.per_token else part for part in (found, before))
        torch.testing.assert_close(own, wanted, atol=1e-5, rtol=0)


def test_int8_is_close_and_a_quarter_of_the_bytes(model, tmp_path):
    batch = tiny.batch(model, pairs=True)
    before = logits(model, batch)
    model.save(tmp_path)
    whole = (tmp_path / "model.safetensors").stat().st_size
    model.apply_edit(Int8())
    model.save(tmp_path)
    assert isinstance(model.anatomy.tokens, Int8Embedding)
    assert (tmp_path / "model.safetensors").stat().st_size < 0.45 * whole  # scales and names weigh, in so small a model
    assert (logits(model, batch) - before).abs().max() < 0.05 * before.abs().max()
    bits = {name: value.element_size() for name, value in model.network.state_dict().items() if value.ndim > 1}
    assert {name for name, size in bits.items() if size > 1 and "scale" not in name} <= {
        "classifier.weight",
        "body.embeddings.token_weights.weight",
    }
    assert torch.equal(logits(load_folder(tmp_path), batch), logits(model, batch))


LOADER = """
import sys, torch, numpy
from pathlib import Path
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder
for folder in sorted(Path(sys.argv[1]).iterdir()):
    inputs = {name: torch.from_numpy(value) for name, value in numpy.load(folder / "inputs.npz").items()}
    model = load_folder(folder)
    with torch.no_grad():
        numpy.save(folder / "again.npy", forward(model.anatomy, Batch(inputs, None, None)).logits.numpy())
"""


def test_saved_and_loaded_in_a_new_process_they_give_the_same(tmp_path):
    wanted = {}
    for number, case in enumerate([*CASES, *CASES]):
        model = tiny.model(case[0], layers=2, head=case[1])
        if number >= len(CASES):
            model.apply_edit(some_of_each(model))
            model.apply_edit(Int8())
        folder = tmp_path / str(number)
        folder.mkdir()
        model.save(folder)
        batch = tiny.batch(model, pairs=True)
        np.savez(folder / "inputs.npz", **{name: value.numpy() for name, value in batch.inputs.items()})
        wanted[folder] = logits(model, batch).numpy()
    new_process.run(LOADER, tmp_path)
    assert all(np.array_equal(np.load(folder / "again.npy"), values) for folder, values in wanted.items())


@pytest.mark.parametrize("edit", [Heads(keep=[1]), HiddenSize(keep=8), Layers(keep=1)], ids=lambda edit: edit.label())
def test_edits_that_need_attention_layers_are_rejected_in_one_line(model, edit):
    with pytest.raises(
        InputError, match=f"{edit.label()}: a model of family '{model.network.config.model_type}' has no attention"
    ) as caught:
        model.apply_edit(edit)
    assert len(caught.value.faults) == 1 and "start from a transformer" in str(caught.value)
    assert model.blueprint.edits == []


def test_a_saved_one_takes_another_head(tmp_path):
    model = tiny.model("bilstm")
    model.save(tmp_path)
    again = load_folder(tmp_path, Head(["a", "b", "c"], "TokenClassification"))
    assert again.labels == ["a", "b", "c"] and again.anatomy.per_token
    for name, value in model.network.body.state_dict().items():
        assert torch.equal(again.network.body.state_dict()[name], value)
    assert torch.isfinite(logits(again, tiny.batch(again))).all()


def test_an_edited_one_keeps_its_head(tmp_path):
    model = tiny.model("bilstm")
    model.apply_edit(Int8())
    model.save(tmp_path)
    assert load_folder(tmp_path, Head(["no", "yes"], answer={"kind": "label"})).labels == ["no", "yes"]
    with pytest.raises(
        InputError, match="keeps its head, which is for SequenceClassification, not TokenClassification"
    ):
        load_folder(tmp_path, Head(["no", "yes"], "TokenClassification"))


def test_what_is_shown_of_them(tmp_path):
    from niwaki.describe import show_model

    tiny.model("cnn").save(tmp_path)
    shown, _ = show_model(tmp_path)
    assert shown["neurons"] == [6, 6, 6, 64] and shown["layers"] == 0 and shown["heads"] == []
    assert shown["blueprint"] == [] and not shown["plain_transformers"]  # transformers alone knows no such family


def test_the_reference_runs_them_as_they_are(tmp_path):
    from niwaki.evaluate.reference import Reference

    model = tiny.model("cnn")
    model.network.config.niwaki_answer = {"kind": "label"}
    model.save(tmp_path)
    texts = [text for text, _ in tiny.sentences(6)]
    wanted = [tiny.LABELS[number] for number in logits(model, tiny.batch(model)).argmax(1).tolist()]
    assert Reference(tmp_path, 60).values(texts) == wanted


@pytest.mark.parametrize(
    "key, value",
    [
        ("filter_widths", [0]),
        ("filter_widths", [3] * 21),
        ("filter_widths", [10**9]),
        ("filter_widths", "3"),
        ("filter_widths", []),
        ("lstm_units", 10**9),
        ("num_filters", 0),
        ("neighbours", -1),
        ("neighbours", 10**9),
        ("num_products", 0),
        ("niwaki_texts", 3),
        ("embedding_size", 1 << 20),
    ],
)
def test_invalid_sizes_are_rejected(key, value):
    with pytest.raises(InputError, match=key):
        from niwaki.models.skeleton import build

        build({**tiny.config("cnn", 1, 8, 1, 8, tiny.LABELS, SEQUENCE_CLASSIFICATION), key: value})

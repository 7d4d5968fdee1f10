"""Language models: logits of torch, and the same bits at once or token by token, with any threads and on any memory."""

import copy
import json
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

import tiny
from engines.native.contract import FILLS, GUARD, GUARDED, same_bits
from engines.native.test_program_parts import ODD, places
from niwaki.core.errors import InputError
from niwaki.engines.native import language
from niwaki.engines.native import library as c
from niwaki.engines.native.decoder_program import LanguageProgram
from niwaki.engines.native.language import LanguageNetwork, Reader
from niwaki.engines.native.translate import translate
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import run
from niwaki.models.ties import unique_tensors
from selection import kernels_of_each_kind

# an odd width of heads, heads that share keys unevenly, and 8 bits
MODELS = {
    "gpt2": ("gpt2", {"width": 30, "heads": 3, "ffn": 50}, ()),
    "gpt2 int8": ("gpt2", {"width": 48, "heads": 4}, (Int8(),)),
    "llama": ("llama", {}, ()),
    "pruned llama": ("llama", {"layers": 2}, (Heads(keep=[[0, 2, 3], [1]]), Int8())),
}
LENGTHS = [20, 1, 7, 33]


@pytest.fixture(params=kernels_of_each_kind(c.KERNELS))
def kernels(request):
    if c.kernels(request.param) is None:
        pytest.skip(f"this processor does not run {request.param}")
    return request.param


def inputs_of(text):
    ids = torch.from_numpy(text)[None]
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


@cache
def program(name):
    family, sizes, edits = MODELS[name]
    model = tiny.model(family, head="MaskedLM", **sizes)
    for edit in edits:
        model.apply_edit(edit)
    texts = [
        np.random.default_rng(7 + length).integers(0, model.anatomy.tokens.num_embeddings, length) for length in LENGTHS
    ]
    with torch.no_grad():
        logits = [run(model.anatomy, inputs_of(text), {})[0].numpy() for text in texts]
    tensors = {name: value.numpy() for name, value in unique_tensors(model.network).items()}
    return translate(model.network, model.anatomy), tensors, texts, logits


class Filled(LanguageNetwork):
    """With scratch memory that is filled before each step, and checked behind its end."""

    fill: int | None = None
    overrun = False

    def __init__(self, *given):
        super().__init__(*given)
        self.step_products, self.guards = 1 << 40, []

    def scratch(self, needed):
        room = c.aligned(needed + GUARDED, np.uint8)
        if self.fill is not None:
            room[: needed // 4 * 4].view(np.uint32)[:] = self.fill
        room[needed:] = GUARD
        self.guards.append(room[needed:])
        return room


def together(network, texts, threads=1):
    return network(np.concatenate(texts), np.array([len(text) for text in texts]), threads)


@pytest.mark.parametrize("name", MODELS)
def test_logits_are_those_of_torch(kernels, name):
    given, tensors, texts, wanted = program(name)
    found = together(LanguageNetwork(given, tensors, "here", kernels), texts)
    wanted = np.concatenate(wanted)
    far = np.abs(found - wanted).max() / np.abs(wanted).max()
    rounded = any(isinstance(edit, Int8) for edit in MODELS[name][2])  # inputs are rounded too, which torch does not do
    assert far < (0.15 if rounded else 1e-5), far


@pytest.mark.parametrize("name", ["gpt2", "pruned llama"])
def test_texts_have_the_same_bits_however_they_are_read(kernels, name, monkeypatch):
    given, tensors, texts, _ = program(name)
    network = Filled(given, tensors, "here", kernels)
    wanted = together(network, texts)
    alike = np.concatenate([texts[0][:9], texts[2]])  # begins like another text
    of_alike = together(network, [alike])
    monkeypatch.setattr(language, "READ_ROWS", 8)
    for number, fill in enumerate(FILLS.values()):
        network.fill = fill
        assert same_bits(
            together(network, texts[::-1], 1 + number % 2),
            np.concatenate([wanted[28:], wanted[21:28], wanted[20:21], wanted[:20]]),
        )
    reader, ids, other = Reader(network, 2), texts[0].tolist(), alike.tolist()
    for length in (4, 5, 9, 16):
        assert same_bits(
            reader.next_logits([ids[:length], other[:length]]), np.stack([wanted[length - 1], of_alike[length - 1]])
        )
    rows = sum(step.rows for step in list(reader._steps)[: len(reader._memory)])
    assert rows < 2 * 16 + 2 * 4  # the beginning is read once, but for tokens whose logits are wanted
    assert all((guard == GUARD).all() for guard in network.guards)


def test_the_same_text_twice_and_a_text_read_before():
    given, tensors, texts, _ = program("llama")
    reader, ids = Reader(LanguageNetwork(given, tensors, "here")), texts[0].tolist()
    first = reader.next_logits([ids, ids, ids[:5]])
    assert same_bits(first[0], first[1])
    assert same_bits(reader.next_logits([ids[:5], ids]), first[[2, 0]])


def test_texts_that_do_not_fit_are_rejected():
    given, tensors, _, _ = program("gpt2")
    network = LanguageNetwork(given, tensors, "here")
    for text, message in (
        ([], "a text is empty"),
        ([network.sizes.vocabulary], "a token id is not below"),
        ([-1], "a token id is not below"),
        ([1] * (network.sizes.longest + 1), f"and the model reads at most {network.sizes.longest}"),
    ):
        with pytest.raises(InputError, match=message):
            Reader(network).next_logits([text])


@settings(max_examples=120, deadline=None)
@given(data=some.data(), name=some.sampled_from(["gpt2", "pruned llama"]))
def test_a_changed_program_is_rejected_or_runs_safely(data, name):
    given, tensors, _, _ = program(name)
    whole = json.loads(given.model_dump_json(exclude_none=True))
    changed = copy.deepcopy(whole)
    for _ in range(data.draw(some.integers(1, 3))):
        paths = [("language_model", *path) for path in places(changed["language_model"]) if path]
        path = data.draw(some.sampled_from(sorted(paths, key=str)))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        drawn = data.draw(some.one_of(ODD, some.sampled_from([whole["language_model"]["tokens"], *tensors])))
        holder[path[-1]] = copy.deepcopy(drawn)  # the next change may be inside of it
    try:
        network = LanguageNetwork(LanguageProgram(**changed), tensors, "here")
        found = network(np.array([5, 6, 7, 8]), np.array([3, 1]))
    except (InputError, ValueError, OverflowError, TypeError):
        return
    assert found.shape == (4, network.sizes.vocabulary)

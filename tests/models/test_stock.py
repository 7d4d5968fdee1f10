"""BART, mBART, Marian, T5, mT5 and Flan-T5 as transformers makes them: read and written alike, cut by the same edits, and given back to it."""

import copy
from pathlib import Path

import pytest
import torch
import transformers

import stock
from niwaki.answers.text import TARGET, Text
from niwaki.engines.export import write_graph
from niwaki.engines.graph_rules import DECODER, ENCODER
from niwaki.engines.predictor import Predictor
from niwaki.models.anatomy import anatomy_of
from niwaki.models.edits.blocks import Blocks
from niwaki.models.edits.decoder import Decoder
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.narrow import Narrow
from niwaki.models.edits.share import Share
from niwaki.models.forward import Batch, forward
from niwaki.models.generation import generate
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.models.position_bias import position_bias
from niwaki.models.record import DECODER_HIDDEN, HIDDEN, SCORES
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from niwaki.models.target_tokenizer import load_target_tokenizer

TEXTS = ["one two three four five", "two", "five four one", "three three three three one two four"]
EDITS = {
    "heads": Heads(keep=[[0, 2], [1, 2, 3], *[[0], [3, 1]], *[[2, 3], [0, 1, 2]], *[[1], [3]]]),
    "ffn": Ffn(keep=[[3, 5, 40], [1, 2, 47, 20], [0, 39], [7], [1, 2, 3, 4]]),
    "layers": Layers(keep=[1]),
    "decoder": Decoder(keep=[2, 0]),
    "width": HiddenSize(keep=[1, 2, 5, 8, 9, 13, 17, 20, 21, 30]),
    "blocks": Blocks(attention=[0, 2, 5], ffn=[1, 2]),
    "share": Share(of=[0, 0, 2, 3, 2]),
    "int8": Int8(small_weights=True),
    "narrow": Narrow(width=6),
}


KINDS = [name for name in stock.CLASSES if name != "mt5"]  # mT5 computes what Flan-T5 does


@pytest.fixture(scope="module", params=KINDS)
def family(request):
    return request.param


@pytest.fixture(scope="module")
def folder(family, tmp_path_factory):
    return stock.folder(family, tmp_path_factory.mktemp("stock") / family)


@pytest.fixture(scope="module")
def model(folder):
    return as_a_task_loads(folder)


def as_a_task_loads(folder):
    own = load_target_tokenizer(folder)
    head = Head(
        ["text"], CONDITIONAL_GENERATION, Text(**own.special_tokens).to_json(), files=lambda: {TARGET: own.target}
    )
    return load_folder(folder, head)


@pytest.fixture(scope="module")
def given(model):
    return inputs(model)


def inputs(model, tokens=21):
    """Texts with padding, and more written tokens than a relative bias has rows for."""
    encoded = [model.tokenizer.backend_tokenizer.encode(text).ids for text in TEXTS]
    max_new_tokens, config = max(map(len, encoded)), model.network.config
    ids = torch.tensor([one + [config.pad_token_id] * (max_new_tokens - len(one)) for one in encoded])
    mask = torch.tensor([[1] * len(one) + [0] * (max_new_tokens - len(one)) for one in encoded])
    before = torch.randint(3, 12, (len(TEXTS), tokens), generator=torch.Generator().manual_seed(1))
    before[:, 0] = config.decoder_start_token_id
    return {"input_ids": ids, "attention_mask": mask, "decoder_input_ids": before}


def same(found, wanted):
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


@torch.no_grad()
def by_transformers(network, given):
    return network.eval()(**given).logits.log_softmax(-1)


@torch.no_grad()
def step_by_step(model, given):
    """As it is written when deployed: a token at a time, with kept keys and values."""
    anatomy, mask, before = model.anatomy, given["attention_mask"], given["decoder_input_ids"]
    memory = anatomy.decoder.encode(given)
    past, found = anatomy.decoder.empty_past(len(mask), memory[0][0]), []
    for place in range(before.shape[1]):
        scores, past = anatomy.decoder.decode_step(
            before[:, place : place + 1], torch.tensor(place), mask, memory, past
        )
        found.append(scores)
    return torch.cat(found, dim=1)


def test_steps_with_cached_keys_and_values_equal_transformers(family, model, given):
    """Against a network that niwaki never touched."""
    wanted = by_transformers(stock.network(family), given)
    same(step_by_step(model, given), wanted)
    assert wanted.std() > 0.2  # random weights that say something


@pytest.mark.parametrize(
    "family, changes",
    [
        ("bart", {"scale_embedding": True}),
        ("marian", {"scale_embedding": False}),
        ("bart", {"decoder_attention_heads": 2, "decoder_layers": 1}),
        ("t5", {"d_kv": 8, "num_decoder_layers": 1}),
        ("flan_t5", {"feed_forward_proj": "gated-silu", "d_kv": 3}),
        ("mt5", {"feed_forward_proj": "relu"}),
        ("mbart", {"scale_embedding": False, "decoder_layers": 1}),
    ],
)
def test_other_shapes_too(family, changes, tmp_path):
    model = load_folder(stock.folder(family, tmp_path, **changes))
    given = inputs(model)
    wanted = by_transformers(stock.network(family, **changes), given)
    same(step_by_step(model, given), wanted)


def test_gradients_equal_those_of_transformers(family, model, given):
    """Of all tokens, through the packed layers, with padding on the side that is read."""
    own, other = copy.deepcopy(model), stock.network(family)
    real = torch.ones_like(given["decoder_input_ids"], dtype=torch.bool)
    batch = Batch(given, torch.zeros(0), torch.zeros(0), predicted=real)
    weights = torch.randn(
        real.shape[0], real.shape[1], other.config.vocab_size, generator=torch.Generator().manual_seed(2)
    )
    (forward(own.anatomy, batch).logits.log_softmax(-1) * weights.flatten(0, 1)).sum().backward()
    (other(**given).logits.log_softmax(-1) * weights).sum().backward()
    wanted = {name: value.grad for name, value in other.named_parameters() if value.requires_grad}
    for name, value in own.network.named_parameters():
        if value.requires_grad:
            scale = wanted[name].abs().max().clamp(min=1)
            torch.testing.assert_close(value.grad / scale, wanted[name] / scale, atol=1e-4, rtol=0)


def test_trained_network_is_that_of_transformers(family, model, given):
    assert type(model.network) is getattr(transformers, stock.CLASSES[family])
    same(by_transformers(model.network, given), by_transformers(stock.network(family), given))


@torch.no_grad()
def test_recorded_scores_and_hidden_states_are_the_encoders(model, given):
    batch = Batch(given, torch.zeros(0), torch.zeros(0))
    found = forward(model.anatomy, batch, frozenset({SCORES, HIDDEN, DECODER_HIDDEN}))
    wanted = model.network(**given, output_attentions=True, output_hidden_states=True)
    bias = position_bias(model.anatomy, found.hidden[0])
    assert len(found.scores) == len(wanted.encoder_attentions) == 2
    for scores, attention in zip(found.scores, wanted.encoder_attentions, strict=True):
        masked = scores + (0 if bias is None else bias) - 1e9 * (1 - batch.mask[:, None, None, :].float())
        rows = batch.mask.bool()[:, None].expand(-1, attention.shape[1], -1)  # what padding attends to means nothing
        same(masked.softmax(-1)[rows], attention[rows])
    assert len(found.decoder_hidden) == 1 + len(model.anatomy.decoder.layers) and {
        one.shape[:2] for one in found.decoder_hidden
    } == {given["decoder_input_ids"].shape}


def test_the_anatomy_finds_every_matrix_and_table_once(model):
    anatomy, network = model.anatomy, model.network
    found = list(anatomy.matrices())
    assert len(found) == len(set(found))
    linear = {name for name, module in network.named_modules() if isinstance(module, torch.nn.Linear)}
    assert {*found, *filter(None, [anatomy.head.final])} == linear
    assert len(anatomy.attentions) == 2 + 2 * 3 and len(anatomy.blocks) == 2 + 3
    assert model.parameters() == sum(
        value.numel() for value in network.state_dict().values()
    )  # nothing lies there twice


def test_it_is_given_back_to_transformers(family, model, given, tmp_path):
    model.save(tmp_path)
    kind = getattr(transformers, stock.CLASSES[family])
    again, loading_info = kind.from_pretrained(tmp_path, output_loading_info=True)
    assert (
        not loading_info["missing_keys"] and not loading_info["unexpected_keys"] and not loading_info["mismatched_keys"]
    )
    same(by_transformers(again, given), by_transformers(stock.network(family), given))


@pytest.mark.parametrize("name", EDITS)
def test_a_cut_network_trains_as_it_is_deployed_and_is_loaded_again(family, model, given, name, tmp_path):
    cut = model.clone()
    cut.apply_edit(EDITS[name].model_copy(deep=True))
    stock_edits = [
        "layers",
        "decoder",
        *(["width"] if family in stock.UNTIED else []),
    ]  # configs of transformers can state them
    assert bool(cut.blueprint.edits) != (name in stock_edits)
    trained, deployed = by_transformers(cut.network, given), step_by_step(cut, given)
    same(deployed, trained)
    assert not torch.allclose(trained, by_transformers(model.network, given), atol=1e-3) or name == "int8"
    cut.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(by_transformers(again.network, given), trained)
    assert torch.equal(step_by_step(again, given), deployed)


@torch.no_grad()
def test_cut_heads_and_neurons_are_those_that_say_nothing(model, given):
    """What goes is switched off in the whole network instead: there its outputs are multiplied by 0."""
    whole, cut = copy.deepcopy(model), model.clone()
    for layer, keep in zip(whole.anatomy.attentions, EDITS["heads"].keep, strict=True):
        width = layer.head_size
        out = layer.part("out").weight
        gone = [head * width + k for head in range(layer.heads) if head not in keep for k in range(width)]
        out[:, gone] = 0
    for block, keep in zip(whole.anatomy.blocks, EDITS["ffn"].keep, strict=True):
        block.consumer.weight[:, [number for number in range(block.ffn_size) if number not in keep]] = 0
    cut.apply_edit(EDITS["heads"].model_copy(deep=True))
    cut.apply_edit(EDITS["ffn"].model_copy(deep=True))
    same(by_transformers(cut.network, given), by_transformers(whole.network, given))


def test_a_shape_that_a_config_tells_is_stock_again(family, model, given, tmp_path):
    """All blocks cut alike: plain transformers loads the smaller network."""
    cut = model.clone()
    cut.apply_edit(Ffn(keep=[8] * 5))
    assert not cut.blueprint.edits
    cut.save(tmp_path)
    again = getattr(transformers, stock.CLASSES[family]).from_pretrained(tmp_path)
    same(by_transformers(again, given), by_transformers(cut.network, given))


def test_embeddings_are_all_that_lies_before_the_first_layer(model, given):
    """Without their gradients the layers still have theirs."""
    network = copy.deepcopy(model.network)
    anatomy = anatomy_of(network)
    for module in anatomy.inputs.modules:
        module.requires_grad_(False)
    assert not anatomy.inputs.forward(given).requires_grad
    assert not anatomy.decoder.embed(given["decoder_input_ids"], 0).requires_grad
    network(**given).logits.sum().backward()
    assert all(layer.part("query").weight.grad is not None for layer in anatomy.attentions)


def test_int8_packs_one_table_for_all_that_use_it(model):
    cut = model.clone()
    cut.apply_edit(Int8(small_weights=True))
    state = cut.network.state_dict()
    large = [name for name, value in state.items() if value.ndim > 1 and value.dtype == torch.float32]
    assert all("relative" in name or name == "final_logits_bias" for name in large)
    assert cut.parameters() == sum(value.numel() for value in state.values())


def deployed(model, folder: Path, **how) -> Path:
    model = model.clone()
    model.network.config.niwaki_answer |= how
    model.network.config.niwaki_max_tokens = 38
    model.save(folder)
    write_graph(model, folder)
    return folder


@pytest.mark.parametrize(
    "edits",
    [(), pytest.param(("heads", "ffn", "layers", "int8"), marks=pytest.mark.slow)],
    ids=["whole", "cut and packed"],
)
def test_onnx_generates_the_same_text_as_torch(model, edits, tmp_path):
    cut = model.clone()
    for name in edits:
        cut.apply_edit(EDITS[name].model_copy(deep=True))
    path = deployed(cut, tmp_path, beam=3, max_new_tokens=17)
    assert (path / ENCODER).is_file() and (path / DECODER).is_file()
    one, other = Predictor(path, "onnx"), Predictor(path, "torch")
    assert one.engine == "onnx"
    rows = one.tokenize(TEXTS)
    found, wanted = one.logits(rows), other.logits(rows)
    if edits:  # integer products round what they are given
        assert abs(found[:, 0] - wanted[:, 0]).max() < 3.0
    else:
        assert (found[:, 1:] == wanted[:, 1:]).all() and abs(found[:, 0] - wanted[:, 0]).max() < 1e-4


@pytest.mark.parametrize("beam", [1, 4])
def test_generated_text_equals_that_of_transformers(family, model, folder, beam):
    """With beams, by transformers' default rule of stopping (`early_stopping=False`). It keeps no keys and values there: for a T5 whose
    decoder is deeper than its encoder it makes too few places for them."""
    special = load_target_tokenizer(folder).special_tokens
    for seed in range(3):
        network = stock.network(family, seed=seed, noise=0.4)
        mine = copy.deepcopy(model)
        mine.network.load_state_dict({name: network.state_dict()[name] for name in mine.network.state_dict()})
        given = inputs(mine, tokens=1)
        ids, mask = given["input_ids"], given["attention_mask"]
        first = 5 if seed == 2 else None  # a language, as mBART-50 has it
        how = Text(beam=beam, max_new_tokens=9, first=first, **special).search
        found = generate(mine.anatomy, given, how)[:, 1:].astype(int)
        settings = transformers.GenerationConfig(
            num_beams=beam,
            do_sample=False,
            early_stopping=False,
            length_penalty=1.0,
            max_new_tokens=9,
            use_cache=False,
            suppress_tokens=special["suppress_tokens"],
            pad_token_id=network.config.pad_token_id,
            eos_token_id=special["end"],
            forced_bos_token_id=first,
            decoder_start_token_id=special["start"],
        )
        with torch.no_grad():
            wanted = network.generate(input_ids=ids, attention_mask=mask, generation_config=settings)[:, 1:]
        assert [upto(row, special["end"]) for row in found.tolist()] == [
            upto(row, special["end"]) for row in wanted.tolist()
        ]


def upto(row: list[int], end: int) -> list[int]:
    row = [piece for piece in row if piece >= 0]
    return row[: row.index(end)] if end in row else row

"""Every family × every edit, and several in a row, under every head: a cut model gives what the uncut one gives with the rest switched off."""

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.models.edit import EDITS
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.family import family_of
from niwaki.models.forward import Batch, forward, run_padded
from niwaki.models.model import Model, load_folder
from niwaki.models.skeleton import CONDITIONAL_GENERATION, HEADS, build
from niwaki.tokenization.trimming import trimmed, used_tokens
from seq2seq import step_by_step

from .uncut import expected

NAMES = ("ffn", "heads", "int8", "layers", "vocabulary", "hidden_size")
CHAINS = {
    **{name: (name,) for name in NAMES},
    "uneven": ("ffn", "heads", "heads", "hidden_size"),
    "student": ("layers", "ffn_even", "heads_half", "width_half"),  # what a stock skeleton can hold again
    "student2": ("width_half", "heads_half"),
    "all": ("vocabulary", "layers", "heads", "ffn", "hidden_size", "ffn", "int8"),
    "packed first": ("int8", "heads", "ffn", "hidden_size", "vocabulary", "layers"),
}
SEQUENCE_CLASSIFICATION, *PER_TOKEN = (
    HEADS  # the head for whole texts gets every chain; those per token every edit, and every family the long ones
)
CASES = [(family, chain, SEQUENCE_CLASSIFICATION) for family in tiny.FAMILIES for chain in CHAINS]
CASES += [("bert", name, head) for head in PER_TOKEN for name in NAMES]
CASES += [(family, chain, head) for head in PER_TOKEN for family in tiny.FAMILIES for chain in ("student", "all")]
CASES += [("bert", chain, CONDITIONAL_GENERATION) for chain in CHAINS]
CASES += [
    (family, chain, CONDITIONAL_GENERATION)
    for family in ("albert", "mpnet")
    for chain in ("student", "all", "packed first")
]


def draw_edit(name: str, model: Model, draw: random.Random):
    """A random edit of the kind; another number of heads and neurons in each layer."""
    anatomy = model.anatomy

    def some(size: int, count: int | None = None) -> list[int]:
        return sorted(draw.sample(range(size), count or draw.randint(max(1, size // 2), size - 1 or 1)))

    if name == "layers":
        return Layers(keep=some(len(anatomy.order), max(1, len(anatomy.order) - 1)))
    if name == "heads":
        return Heads(keep=[some(layer.heads) for layer in anatomy.attentions])
    if name == "heads_half":
        return Heads(keep=[some(layer.heads, layer.heads // 2) for layer in anatomy.attentions])
    if name == "ffn":
        return Ffn(keep=[some(block.ffn_size) for block in anatomy.blocks])
    if name == "ffn_even":
        return Ffn(keep=[some(block.ffn_size, block.ffn_size // 2) for block in anatomy.blocks])
    if name == "hidden_size":
        return HiddenSize(keep=some(anatomy.hidden_size, anatomy.hidden_size - 5))
    if name == "width_half":
        return HiddenSize(keep=some(anatomy.hidden_size, anatomy.hidden_size // 2))
    if name == "vocabulary":
        texts = [text for text, _ in tiny.sentences(6)]
        return Vocabulary(keep=used_tokens(model.tokenizer.backend_tokenizer, texts, 1))
    return Int8()


def test_every_edit_is_tested():
    """Here, or in a file of its own, as `niwaki new edit` writes one."""
    own = {path.stem.removeprefix("test_") for path in (Path(__file__).parent / "edits").glob("test_*.py")}
    assert set(EDITS.names()) == set(NAMES) | own


class Cut:
    """A family taken through a chain of edits, each step checked against the uncut network before it."""

    def __init__(self, family: str, chain: str, head: str) -> None:
        draw = random.Random(f"{family}/{chain}")
        self.model = tiny.model(family, layers=4, head=head)
        self.differences: list[float] = []
        for name in CHAINS[chain]:
            edit = draw_edit(name, self.model, draw)
            wanted = expected(self.model, edit, tiny.batch(self.model, pairs=True))
            if name == "vocabulary":
                self.model.tokenizer = trimmed(self.model.tokenizer, edit.keep)
            self.model.apply_edit(edit)
            self.differences.append(float((self.logits() - wanted).abs().max()))
        self.batch = tiny.batch(self.model, pairs=True)

    def logits(self) -> torch.Tensor:
        return logits(self.model, tiny.batch(self.model, pairs=True))


@torch.no_grad()
def logits(model: Model, batch: Batch) -> torch.Tensor:
    return forward(model.anatomy, batch).logits


@pytest.fixture(scope="module")
def cuts():
    return {case: Cut(*case) for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_cut_model_gives_what_the_uncut_one_gives_with_the_rest_switched_off(cuts, case):
    assert max(cuts[case].differences) < 2e-5, dict(zip(CHAINS[case[1]], cuts[case].differences, strict=True))


@pytest.mark.parametrize("case", CASES, ids=" ".join)
@torch.no_grad()
def test_lean_equals_the_cut_model(cuts, case):
    model, batch = cuts[case].model, cuts[case].batch
    if model.anatomy.is_seq2seq:
        torch.testing.assert_close(step_by_step(model, batch), logits(model, batch).log_softmax(-1), atol=2e-5, rtol=0)
        return
    lean = run_padded(model.anatomy, batch.inputs)
    torch.testing.assert_close(tiny.real(lean, batch), tiny.real(logits(model, batch), batch), atol=2e-5, rtol=0)


LOADER = """
import json, sys, torch, numpy, transformers
from pathlib import Path
from niwaki.models.family import family_of
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)
for folder in sorted(Path(sys.argv[1]).iterdir()):
    inputs = {name: torch.from_numpy(value) for name, value in numpy.load(folder / "inputs.npz").items()}
    model = load_folder(folder)
    batch = Batch(inputs, None, None)
    with torch.no_grad():
        numpy.save(folder / "again.npy", forward(model.anatomy, batch).logits.numpy())
        if family_of(model.network.config.model_type).in_transformers and not (folder / "blueprint.json").exists():
            stock = getattr(transformers, f"AutoModelFor{model.anatomy.head.architecture}").from_pretrained(folder).eval()
            found = stock(**batch.inputs)
            logits = torch.stack([found.start_logits, found.end_logits], -1) if "start_logits" in found else found.logits
            numpy.save(folder / "stock.npy", logits.numpy())
    rows = model.tokenizer(["the film was very lovely."])["input_ids"]
    (folder / "again.json").write_text(json.dumps([model.labels, rows, model.parameters(), len(model.blueprint.edits)]))
"""


@pytest.fixture(scope="module")
def reloaded(cuts, tmp_path_factory):
    """All of them saved, and loaded by one new process."""
    root = tmp_path_factory.mktemp("cuts")
    for case, cut in cuts.items():
        folder = root / " ".join(case)
        folder.mkdir()
        cut.model.save(folder)
        np.savez(folder / "inputs.npz", **{name: value.numpy() for name, value in cut.batch.inputs.items()})
    done = subprocess.run([sys.executable, "-c", LOADER, str(root)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return root


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_saved_and_loaded_in_a_new_process_it_gives_the_same(cuts, reloaded, case):
    cut, folder = cuts[case], reloaded / " ".join(case)
    assert np.array_equal(np.load(folder / "again.npy"), cut.logits().numpy())
    labels, rows, parameters, edits = json.loads((folder / "again.json").read_text())
    assert labels == cut.model.labels
    assert rows == cut.model.tokenizer(["the film was very lovely."])["input_ids"]
    assert parameters == cut.model.parameters()
    assert edits == len(cut.model.blueprint.edits)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_the_folder_holds_safetensors_and_json_only(reloaded, case):
    files = {path.name for path in (reloaded / " ".join(case)).iterdir()} - {
        "inputs.npz",
        "again.npy",
        "stock.npy",
        "again.json",
    }
    assert {"model.safetensors", "config.json", "tokenizer.json"} <= files
    assert files <= {
        "model.safetensors",
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "blueprint.json",
        "special_tokens_map.json",
    }
    for name in files - {"model.safetensors"}:
        json.loads((reloaded / " ".join(case) / name).read_text())


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_what_a_stock_skeleton_holds_loads_with_plain_transformers(cuts, reloaded, case):
    cut, folder = cuts[case], reloaded / " ".join(case)
    stock = not cut.model.blueprint.edits
    assert stock == (not (folder / "blueprint.json").exists())
    assert (stock and family_of(cut.model.network.config.model_type).in_transformers) == (folder / "stock.npy").exists()
    if stock and family_of(cut.model.network.config.model_type).in_transformers:
        stock_logits = tiny.real(torch.from_numpy(np.load(folder / "stock.npy")), cut.batch)
        torch.testing.assert_close(stock_logits, tiny.real(cut.logits(), cut.batch), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", tiny.FAMILIES)
def test_which_chains_stay_stock(cuts, family):
    stock = {chain for chain in CHAINS if not cuts[family, chain, SEQUENCE_CLASSIFICATION].model.blueprint.edits}
    assert {"layers", "vocabulary"} <= stock
    assert not stock & {"heads", "int8", "all", "packed first", "uneven"}
    assert ("ffn" in stock) == (family == "albert")  # one layer is never uneven
    # MPNet's position bias keeps a column for every head there was
    assert ({"student", "student2"} <= stock) == (family != "mpnet")


def test_a_width_that_heads_do_not_divide_keeps_its_blueprint():
    model = tiny.model("bert")
    model.apply_edit(HiddenSize(keep=list(range(30))))
    assert [edit.label() for edit in model.blueprint.edits] == ["hidden_size"]


def test_parameters_that_were_frozen_stay_frozen():
    model = tiny.model("bert")
    model.anatomy.trunk.embeddings.requires_grad_(False)
    model.apply_edit(HiddenSize(keep=list(range(16))))
    assert not any(parameter.requires_grad for parameter in model.anatomy.trunk.embeddings.parameters())
    assert all(parameter.requires_grad for parameter in model.anatomy.layers[0].module.parameters())


def test_gradients_flow_through_a_packed_model_to_what_is_left():
    model = tiny.model("bert")
    model.apply_edit(Int8())
    batch = tiny.batch(model)
    model.network(**batch.inputs).logits.sum().backward()
    assert model.network.classifier.weight.grad.abs().sum() > 0
    assert model.anatomy.layers[0].part("attention_norm").weight.grad.abs().sum() > 0


@pytest.mark.parametrize(
    "edit, message",
    [
        (Heads(keep=[[0], [0]]), "heads: 2 layers are named and the model has 3"),
        (Heads(keep=[[0], [0], []]), "heads of layer 2: at least one must be kept"),
        (Heads(keep=[[0], [0, 0], [1]]), "heads of layer 1: must be different numbers below 4"),
        (Ffn(keep=[64, 64, 65]), "ffn of layer 2: must be different numbers below 64"),
        (Ffn(keep=[10**15, 1, 1]), "ffn of layer 0: must be different numbers below 64"),
        (Layers(keep=[3]), "layers: must be different numbers below 3"),
        (Layers(keep=0), "layers: at least one"),
        (HiddenSize(keep=[-1]), "hidden_size: must be different numbers below 32"),
        (Vocabulary(keep=10**9), "vocabulary: must be different numbers below"),
    ],
)
def test_an_edit_that_does_not_fit_is_rejected_and_changes_nothing(edit, message):
    model = tiny.model("bert")
    before = tiny.logits(model, tiny.batch(model))
    with pytest.raises(InputError, match=message) as caught:
        model.apply_edit(edit)
    assert len(str(caught.value)) < 200
    assert model.blueprint.edits == []
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before)


def test_a_padding_mark_that_positions_are_counted_from_must_keep_its_place():
    model = tiny.model("roberta")
    keep = [number for number in range(len(model.tokenizer)) if number != 0]  # so the padding mark, 1, becomes 0
    with pytest.raises(InputError, match="padding token"):
        model.apply_edit(Vocabulary(keep=keep))


def test_a_padding_mark_that_moves_is_renumbered_elsewhere():
    model = tiny.model("bert")
    keep = [5, 0, 1, 2, 3, 4, *range(6, 60)]
    batch = tiny.batch(model)
    wanted = tiny.logits(model, batch)
    new = torch.full((len(model.tokenizer),), -1)
    new[keep] = torch.arange(len(keep))
    model.apply_edit(Vocabulary(keep=keep))
    assert model.network.config.pad_token_id == 1
    ids = new[batch.inputs["input_ids"]]
    rows = (ids >= 0).all(dim=1)
    if rows.any():
        inputs = {name: value[rows] for name, value in {**batch.inputs, "input_ids": ids}.items()}
        torch.testing.assert_close(tiny.logits(model, Batch(inputs, batch.targets, batch.rows)), wanted[rows])


@pytest.mark.parametrize("family", ["mpnet", "bert"])
def test_the_order_in_which_heads_are_named_means_nothing(family, tmp_path):
    """MPNet adds a bias to each head by its number: a stock skeleton could not know of another order."""
    model = tiny.model(family)
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model.apply_edit(Heads(keep=[[3, 1, 0, 2]] * 3))
    model.save(tmp_path)
    for found in (model, load_folder(tmp_path)):
        torch.testing.assert_close(tiny.logits(found, batch), before, atol=1e-6, rtol=0)
    assert model.blueprint.edits == []


def test_a_new_order_of_layers_is_saved(tmp_path):
    model = tiny.model("bert")
    batch = tiny.batch(model)
    model.apply_edit(Ffn(keep=[[1, 2], [3], [4, 5, 6]]))
    model.apply_edit(Layers(keep=[2, 0]))
    assert [layer.ffn_size for layer in model.anatomy.layers] == [3, 2]
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), tiny.logits(model, batch))


def test_shared_layers_of_several_kinds_are_not_cut_in_depth():
    values = {**tiny.config("albert", 4, 32, 4, 64, tiny.LABELS, SEQUENCE_CLASSIFICATION), "num_hidden_groups": 2}
    model = Model(build(values), tiny.tokenizer())
    assert model.anatomy.order == [0, 0, 1, 1]
    with pytest.raises(InputError, match="runs several layers several times"):
        model.apply_edit(Layers(keep=2))

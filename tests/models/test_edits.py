"""Every family × every edit, and several in a row, under every head: a cut model gives what the uncut one gives with the rest switched off."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

import new_process
import tiny
from models.uncut import expected
from niwaki.models.edit import EDITS
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.vocabulary import Vocabulary
from niwaki.models.family import family_of
from niwaki.models.forward import Batch, forward, run_padded
from niwaki.models.model import Model
from niwaki.models.skeleton import CONDITIONAL_GENERATION, HEADS
from niwaki.tokenization.trimming import trimmed, used_tokens
from selection import rest_slow, selected
from seq2seq import step_by_step

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
CASES = [(family, chain, SEQUENCE_CLASSIFICATION) for family in tiny.SIZED for chain in CHAINS]
FAST = {case for case in CASES if case[0] == "bert" or case[1] in ("student", "all", "packed first")}


CASES += [("bert", name, head) for head in PER_TOKEN for name in NAMES]


CASES += [(family, chain, head) for head in PER_TOKEN for family in tiny.SIZED for chain in ("student", "all")]


CASES += [("bert", chain, CONDITIONAL_GENERATION) for chain in CHAINS]


CASES += [
    (family, chain, CONDITIONAL_GENERATION)
    for family in ("albert", "mpnet")
    for chain in ("student", "all", "packed first")
]


# fast: every chain on one family, every edit in one chain on all families, and the longest chain under every head
FAST |= {case for case in CASES if case[0] == "bert" and case[1] in ("student", "all", "packed first")}


SELECTED = rest_slow(CASES, FAST)


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


class Cuts(dict):
    """Case → its model, made when it is used first."""

    def __missing__(self, case: tuple[str, str, str]) -> Cut:
        self[case] = Cut(*case)
        return self[case]


@pytest.fixture(scope="module")
def cuts():
    return Cuts()


@pytest.mark.parametrize("case", SELECTED, ids=" ".join)
def test_edited_model_equals_the_original_with_removed_parts_zeroed(cuts, case):
    assert max(cuts[case].differences) < 2e-5, dict(zip(CHAINS[case[1]], cuts[case].differences, strict=True))


@pytest.mark.parametrize("case", SELECTED, ids=" ".join)
@torch.no_grad()
def test_forward_pass_equals_the_edited_network(cuts, case):
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
def reloaded(request, cuts, tmp_path_factory):
    """All that this session tests are saved, and loaded by one new process."""
    root = tmp_path_factory.mktemp("cuts")
    for case in selected(request, "case"):
        cut = cuts[case]
        folder = root / " ".join(case)
        folder.mkdir()
        cut.model.save(folder)
        np.savez(folder / "inputs.npz", **{name: value.numpy() for name, value in cut.batch.inputs.items()})
    new_process.run(LOADER, root)
    return root


@pytest.mark.parametrize("case", SELECTED, ids=" ".join)
def test_saved_model_gives_the_same_logits_in_a_new_process(cuts, reloaded, case):
    cut, folder = cuts[case], reloaded / " ".join(case)
    assert np.array_equal(np.load(folder / "again.npy"), cut.logits().numpy())
    labels, rows, parameters, edits = json.loads((folder / "again.json").read_text())
    assert labels == cut.model.labels
    assert rows == cut.model.tokenizer(["the film was very lovely."])["input_ids"]
    assert parameters == cut.model.parameters()
    assert edits == len(cut.model.blueprint.edits)


@pytest.mark.parametrize("case", SELECTED, ids=" ".join)
def test_folder_contains_safetensors_and_json_only(reloaded, case):
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


@pytest.mark.parametrize("case", SELECTED, ids=" ".join)
def test_models_without_blueprint_load_with_plain_transformers(cuts, reloaded, case):
    cut, folder = cuts[case], reloaded / " ".join(case)
    stock = not cut.model.blueprint.edits
    assert stock == (not (folder / "blueprint.json").exists())
    assert (stock and family_of(cut.model.network.config.model_type).in_transformers) == (folder / "stock.npy").exists()
    if stock and family_of(cut.model.network.config.model_type).in_transformers:
        stock_logits = tiny.real(torch.from_numpy(np.load(folder / "stock.npy")), cut.batch)
        torch.testing.assert_close(stock_logits, tiny.real(cut.logits(), cut.batch), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", rest_slow(tiny.SIZED, {"bert", "albert", "mpnet"}))  # the rest is as bert
def test_blueprint_is_empty_only_where_the_config_describes_the_model(cuts, family):
    stock = {chain for chain in CHAINS if not cuts[family, chain, SEQUENCE_CLASSIFICATION].model.blueprint.edits}
    assert {"layers", "vocabulary"} <= stock
    assert not stock & {"heads", "int8", "all", "packed first", "uneven"}
    assert ("ffn" in stock) == (family == "albert")  # one layer is never uneven
    # MPNet's position bias keeps a column for every head there was
    assert ({"student", "student2"} <= stock) == (family != "mpnet")


def test_gradients_reach_the_unpacked_parameters():
    model = tiny.model("bert")
    model.apply_edit(Int8())
    batch = tiny.batch(model)
    model.network(**batch.inputs).logits.sum().backward()
    assert model.network.classifier.weight.grad.abs().sum() > 0
    assert model.anatomy.layers[0].part("attention_norm").weight.grad.abs().sum() > 0

"""What each family can do, tried on a tiny random model: a check returns "" or the reason of a rejection, and fails where an outcome is wrong."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

import stock
import tiny
from niwaki.core.errors import InputError
from niwaki.data.pixels import PIXELS
from niwaki.engines.export import write_graph
from niwaki.engines.native.program_file import write_program
from niwaki.engines.runtimes.native import Native
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.methods import METHODS
from niwaki.methods._method import Method
from niwaki.models.dropout import set_dropout
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.layers import Layers
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.forward import Batch, forward
from niwaki.models.model import Model, load_folder
from niwaki.models.skeleton import CONDITIONAL_GENERATION

Check = Callable[[str, Path], str]
OURS = "niwaki's own network"
STEPS, RATE = 20, 3e-3


def model_of(family: str, folder: Path) -> Model:
    """A tiny model, with a head for whole texts where it reads."""
    if family in stock.CLASSES:
        return load_folder(stock.folder(family, folder))
    if tiny.ABOUT[family].decoder is not None:
        return tiny.model("bert", head=CONDITIONAL_GENERATION)
    return tiny.model(family)


def batch_of(model: Model) -> Batch:
    """Texts of several lengths; those that a family can generate where it generates."""
    if model.network.config.model_type not in stock.CLASSES:
        return tiny.batch(model)
    lengths = torch.tensor([3, 7, 5, 2])
    real = torch.arange(7)[None] < lengths[:, None]
    ids = torch.randint(3, 12, real.shape, generator=torch.Generator().manual_seed(0)) * real
    ids = torch.where(real, ids, torch.tensor(model.tokenizer.pad_token_id))
    inputs = {"input_ids": ids, "attention_mask": real.long(), "decoder_input_ids": ids.flip(0)}
    return Batch(inputs, torch.where(real.flip(0), ids.flip(0), -100), torch.arange(4))


def targets_of(logits: torch.Tensor, batch: Batch) -> torch.Tensor:
    """One class for each row of the logits."""
    return batch.targets if batch.targets.shape == logits.shape[:-1] else torch.arange(len(logits)) % logits.shape[-1]


def loss_of(model: Model, batch: Batch) -> torch.Tensor:
    logits = forward(model.anatomy, batch).logits
    targets = batch.targets if model.anatomy.is_seq2seq else targets_of(logits, batch)
    return functional.cross_entropy(logits.flatten(0, -2), targets.flatten())


def loads(family: str, folder: Path) -> str:
    """A checkpoint that transformers saved has the logits that transformers computes, text by text and in a batch."""
    if not tiny.ABOUT[family].in_transformers:
        return OURS
    if family in stock.CLASSES:
        reference, model = stock.network(family), load_folder(stock.folder(family, folder))
    else:
        reference = untouched(family)
        reference.save_pretrained(folder)
        tiny.reader(family, reference.config.to_dict()).save_pretrained(folder)
        model = load_folder(folder)
    batch = batch_of(model)
    with torch.no_grad():
        found = forward(model.anatomy, batch).logits
        wanted = torch.cat([reference(**alone(batch, row, model)).logits for row in range(len(batch.mask))])
    assert found.std() > 0.01
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    return ""


def untouched(family: str):
    """transformers' own network with random numbers, as a checkpoint has them."""
    like = tiny.model(family).network
    torch.manual_seed(6)
    network = type(like)(like.config).eval()
    with torch.no_grad():
        for parameter in filter(lambda one: one.requires_grad, network.parameters()):
            parameter.add_(torch.randn(parameter.shape) / 10)
    for table in filter(lambda one: isinstance(one, torch.nn.Embedding), network.modules()):
        if table.padding_idx is not None:
            table.weight.data[table.padding_idx] = 0
    return network


def alone(batch: Batch, row: int, model: Model) -> dict[str, torch.Tensor]:
    """A text without padding, but for what fills a group of characters. A generated text stays as long as the others."""
    if PIXELS in batch.inputs:
        return {PIXELS: batch.inputs[PIXELS][row : row + 1]}
    group = getattr(model.network.config, "downsampling_rate", 1)
    length = -(-int(batch.mask[row].sum()) // group) * group
    cut = {name: value[row : row + 1] for name, value in batch.inputs.items()}
    short = {name: value[:, :length] for name, value in cut.items() if not name.startswith("decoder")}
    short = {name: functional.pad(value, (0, length - value.shape[1])) for name, value in short.items()}
    return {**cut, **short}


def trains(family: str, folder: Path) -> str:
    """Some steps lower the loss, and move the token table."""
    model = model_of(family, folder)
    batch, before = batch_of(model), float(loss_of(model, batch_of(model)).detach())
    set_dropout(model.network, 0.0)
    optimizer = torch.optim.Adam(model.network.parameters(), RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_of(model, batch).backward()
        optimizer.step()
    assert float(loss_of(model, batch).detach()) < 0.9 * before
    return ""


def distils(family: str, folder: Path) -> str:
    """A student without some layers, and with other numbers, comes nearer to the outputs of its teacher."""
    teacher = model_of(family, folder)
    student, batch = teacher.clone(), batch_of(teacher)
    if teacher.anatomy.layers:
        student.apply_edit(Layers(keep=[0]))
    torch.manual_seed(8)
    with torch.no_grad():
        for parameter in student.network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 5)
    wanted = forward(teacher.anatomy, batch).logits.detach().softmax(-1)

    def distance() -> torch.Tensor:
        return functional.cross_entropy(forward(student.anatomy, batch).logits.flatten(0, -2), wanted.flatten(0, -2))

    least = float(-(wanted * wanted.log()).sum(-1).mean())
    before = float(distance().detach()) - least
    optimizer = torch.optim.Adam(student.network.parameters(), RATE)
    for _ in range(STEPS):
        optimizer.zero_grad()
        distance().backward()
        optimizer.step()
    assert float(distance().detach()) - least < 0.9 * before
    return ""


def pruned_by(method: str) -> Check:
    """The dry run of a method of pruning, as a plan makes it."""

    def check(family: str, folder: Path) -> str:
        model = model_of(family, folder)
        settings = {"multiple": 1} if method in ("ffn", "hidden_size") else {}
        settings |= {"count": 1} if method == "layers" else {}
        before = model.parameters()
        try:
            cut = METHODS.load(method, Method)(**settings).dry_prepare(model)
        except InputError as error:
            return str(error)
        assert cut.parameters() < before or len(cut.anatomy.order) == 1  # one layer may run several times
        with torch.no_grad():
            batch = batch_of(cut)
            inputs = dict(batch.inputs)
            if "input_ids" in inputs:
                inputs["input_ids"] = inputs["input_ids"].clamp(max=cut.anatomy.tokens.num_embeddings - 1)
            logits = forward(cut.anatomy, Batch(inputs, batch.targets, batch.rows)).logits
        assert torch.isfinite(logits).all()
        return ""

    return check


def packed(edit: Int8 | LowBit, least: float) -> Check:
    """Outputs stay similar, the file is smaller, and what is loaded is the same."""

    def check(family: str, folder: Path) -> str:
        (folder / "start").mkdir(), (folder / "packed").mkdir()
        model = model_of(family, folder / "start")
        batch, size = batch_of(model), sum(one.nbytes for one in model.tensors().values())
        with torch.no_grad():
            wanted = forward(model.anatomy, batch).logits
            try:
                model.apply_edit(edit)
            except InputError as error:
                return str(error)
            found = forward(model.anatomy, batch).logits
            model.save(folder / "packed")
            again = forward(load_folder(folder / "packed").anatomy, batch).logits
        assert functional.cosine_similarity(found.flatten(), wanted.flatten(), dim=0) > least
        assert sum(one.nbytes for one in model.tensors().values()) < 0.8 * size
        assert torch.equal(again, found)
        return ""

    return check


def onnx(family: str, folder: Path) -> str:
    """The graph has the outputs of torch, at another batch size and length than it was traced with."""
    (folder / "start").mkdir(), (folder / "saved").mkdir()
    model = model_of(family, folder / "start")
    model.save(folder / "saved")
    write_graph(model, folder / "saved")
    if model.anatomy.is_seq2seq:  # two graphs that the search runs in turn: tests/engines/test_generation.py
        assert len([*(folder / "saved").glob("*.onnx")]) == 2
        return ""
    compare(Onnx(folder / "saved", 1), model)
    return ""


def native(family: str, folder: Path) -> str:
    """The same of the native engine."""
    (folder / "start").mkdir(), (folder / "saved").mkdir()
    model = model_of(family, folder / "start")
    model.save(folder / "saved")
    if reason := write_program(model, folder / "saved"):
        return reason
    if not model.anatomy.is_seq2seq:  # texts that it generates: tests/engines/native/test_translate_decoder.py
        compare(Native(folder / "saved", 1), model)
    return ""


def compare(engine, model: Model) -> None:
    batch = batch_of(model)
    arrays = {name: value.numpy() for name, value in batch.inputs.items()}
    with torch.no_grad():
        wanted = forward(model.anatomy, batch).logits.numpy()
    np.testing.assert_allclose(engine.logits(arrays), wanted, atol=2e-5, rtol=1e-4)


PRUNING = ("heads", "ffn", "layers", "hidden_size", "vocabulary")
CHECKS: dict[str, Check] = {
    "as published": loads,
    "trains": trains,
    "distils": distils,
    **{method: pruned_by(method) for method in PRUNING},
    "int8": packed(Int8(), 0.97),
    "4-bit": packed(LowBit(base=16, group=16, table=True), 0.75),
    "ONNX": onnx,
    "native": native,
}


@cache
def families() -> tuple[str, ...]:
    return tuple(tiny.ABOUT)

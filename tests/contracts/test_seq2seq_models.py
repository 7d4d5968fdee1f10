"""Every method on seq2seq models, and every family of compression before and after every other.

Below stages, to be quick (`test_tasks.py` takes some of them through stages): prepared, taught a step, finished, saved, loaded by a new
process; one after each family of compression, with and without a shared table, is run with ONNX Runtime too.
"""

import itertools
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn import functional

import new_process
import tiny
from niwaki.answers.text import TARGET, Text
from niwaki.core.errors import InputError
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.methods import METHODS
from niwaki.methods._method import (
    AveragesWeights,
    Bakes,
    Context,
    ContributesLoss,
    FollowsTeacher,
    Method,
    ReadsStages,
    Reshapes,
    Schedules,
    methods_with,
)
from niwaki.models.distillation_losses import soft_cross_entropy
from niwaki.models.forward import forward
from niwaki.models.stock import WEIGHTS
from niwaki.tokenization.training import make
from selection import chain, rest_slow, selected
from seq2seq import seq2seq_model

REJECTED = {
    "add_decoder": "has a decoder already",
    "averaging": "has no decoder",
    "bilstm": "has no decoder",
    "cnn": "has no decoder",
    "exits": "this model generates text",
    "extend_positions": "models that generate text from a text",
    "from_scratch": "is an encoder, and the model generates text",
    "image_copies": "the model reads texts",
    "linear_head": "one label for each text",
    "linear_probe": "heads that read one vector of a text",
    "pair_head": "labels or a number for a pair of texts",
    "prefix_tuning": "its decoder reads no prefix",
    "prompt_tuning": "the model generates or fills in text",
    "class_weights": "labels of whole texts",
    "reinit": "this model generates text",
    "smart": "this model generates text",
    "stack": "is an encoder-decoder",
    "subnet": "was not trained by 'supernet'",
    "supernet": "the model generates text",
    "token_dropping": "needs every token",
    "token_pooling": "needs every token",
    "weighted_layers": "heads for labels of texts and for tags",
}
EXAMPLES = {
    "blocks": {"keep": 0.9, "batches": 1},
    "gptq": {"batches": 1},
    "student": {"layers": 2, "hidden": 16},
    "lottery": {"rewind": "none"},
    "soup": {"other_stages": ["teacher"], "choose": "uniform"},
    "embeddings": {"width": 6},
    "ffn": {"multiple": 8},
    "linear_mixing": {"tokens": 16},  # fewer numbers than attention in layers this narrow
}
FAMILIES = {
    "distil": [("student", {"layers": 1}), ("logits", {})],
    "cut": [("heads", {"keep": 0.5}), ("ffn", {"keep": 0.5, "multiple": 8}), ("decoder", {})],
    "sparse": [("magnitude", {"sparsity": 0.7})],
    "int8": [("int8", {})],
    "rtn": [("rtn", {"bits": 4, "group": 16})],
    "share": [("share", {"choose": "first"})],
    "factorize": [("svd", {"keep": 0.5, "weighting": "none"}), ("embeddings", {"width": 6})],
}
WITH_ONNX = {family: (family, "int8") if family in ("distil", "cut") else ("cut", family) for family in FAMILIES}
EVERY_PAIR = set(itertools.product(FAMILIES, FAMILIES))
EVERY_PAIR.remove(("factorize", "factorize"))  # a narrow table is no narrower with as many columns
PAIRS = rest_slow(sorted(EVERY_PAIR), {*chain(FAMILIES), *WITH_ONNX.values()})
TABLES = (
    "embeddings",
    "student",
    "vocabulary",
    "hidden_size",
    "qat",
    "binary",
    "gptq",
    "int8",
    "rtn",
    "static",
    "ternary",
)
ONE = "prefix bert"  # a stack that reads and writes
EACH = {"bert": METHODS.names(), "shared": TABLES, ONE: METHODS.names()}
TEXTS = [text for text, _ in tiny.sentences(6)]
TARGET_TOKENIZER = make(
    [" ".join(f"w{number}" for number in range(tiny.TARGET_TOKENS))], "words", tiny.TARGET_TOKENS
).encode()


def kind(name):
    return METHODS.load(name, Method)


def fresh(of="bert", layers=3):
    model = seq2seq_model(of, layers=layers, niwaki_answer=Text(beam=2, max_new_tokens=6).to_json())
    model.sibling_files = {TARGET: TARGET_TOKENIZER}
    return model


def loss(model, batch):
    return outputs_loss(forward(model.anatomy, batch), batch)


def outputs_loss(outputs, batch):
    return functional.cross_entropy(outputs.logits.flatten(0, 1), batch.targets.flatten().long(), ignore_index=-100)


def soft(student, teacher, batch, temperature):
    return soft_cross_entropy(student, teacher, temperature, (batch.targets >= 0).float())


def batches(model, count=1):
    return [tiny.batch(model, seed=seed) for seed in range(min(count, 2))]


def context(of, layers=3):
    teacher = fresh(of, layers)

    @torch.no_grad()
    def says(batch):
        return forward(
            teacher.anatomy, batch, frozenset({"hidden", "scores", "queries", "keys", "values", "decoder_hidden"})
        )

    return Context(0, says, teacher, batches, loss, soft, lambda: TEXTS, lambda stage: teacher, outputs_loss)


def done(model, methods, given, dry_run=True):
    """What a stage does with them: dry run, preparation, a step of training where they act in it, finished."""
    shape = model.clone() if dry_run else model
    for method in methods if dry_run else ():
        if isinstance(method, FollowsTeacher):
            method.check_teacher(shape, given.teacher_model)
        if isinstance(method, ReadsStages):
            method.check_stages(shape, lambda stage: given.teacher_model)
        if isinstance(method, Reshapes):
            shape = method.dry_prepare(shape)
    for method in methods_with(methods, Reshapes):
        model = method.prepare(model, given)
    if any(method.requires.training for method in methods):
        train(model, methods, given)
    for method in methods_with(methods, Bakes):
        model = method.finish(model)
    model.network.eval()
    return model


def train(model, methods, given):
    model.network.train()
    for method in methods_with(methods, AveragesWeights):
        method.track(model)
    helpers = [one for method in methods if method.helpers is not None for one in method.helpers.parameters()]
    optimizer = torch.optim.SGD([*model.network.parameters(), *helpers], lr=1e-3)
    for progress in (0.5, 1.0):
        batch = batches(model)[0]
        outputs = forward(model.anatomy, batch, frozenset().union(*(method.requires.activations for method in methods)))
        total = loss(model, batch)
        for method in methods_with(methods, FollowsTeacher):
            method.teacher_activations(model, given.teacher_model)
        for method in methods_with(methods, ContributesLoss):
            total = method.loss(model, batch, outputs, total, given)
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        for method in methods_with(methods, Schedules):
            method.after_step(model, progress)


def saved(model, folder):
    folder.mkdir(parents=True)
    model.save(folder)
    return (folder / WEIGHTS).stat().st_size


@pytest.fixture(scope="module")
def models_by_name(request, tmp_path_factory):
    """The methods and pairs of families that this session tests: names → the model, or why not, and bytes of its weights. All
    are loaded by one new process."""
    folder, models, sizes = tmp_path_factory.mktemp("seq2seq"), {}, {}
    alone = selected(request, "names")
    for of in dict.fromkeys(of for of, _ in alone):
        given = context(of)
        sizes[of, ""] = saved(given.teacher_model, folder / f"{of} ")
        for name in (name for other, name in alone if other == of):
            try:
                models[of, name] = done(fresh(of), [kind(name)(**EXAMPLES.get(name, {}))], given)
            except InputError as error:
                models[of, name] = error
    given = context("bert", 2)
    firsts = {name: done(fresh(layers=2), methods(name), given) for name in FAMILIES}
    sizes |= {("first", name): saved(model, folder / f"first {name}") for name, model in firsts.items()}
    pairs = {*selected(request, "pair"), *(WITH_ONNX[family] for family in selected(request, "family"))}
    models |= {pair: done(firsts[pair[0]].clone(), methods(pair[1]), given, dry_run=False) for pair in sorted(pairs)}
    there = {names: model for names, model in models.items() if not isinstance(model, InputError)}
    sizes |= {names: saved(model, folder / " ".join(names)) for names, model in there.items()}
    inputs = tiny.batch(fresh()).inputs
    in_a_new_process(folder, [" ".join(names) for names in there], inputs)
    return folder, models, sizes, inputs


EVERY_METHOD = [(of, name) for of, names in EACH.items() for name in names]
# fast: every method on one model, and those that are rejected or act differently on the others
ALONE = rest_slow(
    EVERY_METHOD,
    {
        *(names for names in EVERY_METHOD if names[0] == "bert"),
        *[("shared", "vocabulary"), ("shared", "embeddings"), ("shared", "int8"), ("shared", "hidden_size")],
        *[(ONE, "decoder"), (ONE, "decoder_kd"), (ONE, "logits"), (ONE, "layers"), (ONE, "int8"), (ONE, "heads")],
    },
)


@pytest.mark.parametrize("names", ALONE, ids=" ".join)
def test_every_method_works_on_seq2seq_models_or_is_rejected_with_a_reason(models_by_name, names):
    folder, models, sizes, inputs = models_by_name
    (of, name), model = names, models[names]
    rejected = {
        **REJECTED,
        **{"shared": {"vocabulary": "share the token table"}, ONE: {"decoder": "has no decoder"}}.get(of, {}),
    }
    if name in rejected:
        assert len(model.faults) == 1 and rejected[name] in model.faults[0] and model.faults[0].startswith(f"{name}: ")
        return
    assert not isinstance(model, InputError), model
    if "file" in kind(name).requires.reduces:
        assert sizes[names] < sizes[of, ""]
    elif kind(name).requires.adds_parameters:
        assert model.parameters() > seq2seq_model(of).parameters()
    else:
        assert model.parameters() == seq2seq_model(of).parameters()
    assert (model.anatomy.tokens is model.network.decoder.tokens) == (of == "shared")  # whatever was done to it
    assert not any("helper" in key or "parametrizations" in key for key in model.network.state_dict())
    assert same_again(folder / " ".join(names), model, inputs)


LOADER = """
import sys, numpy, torch
from pathlib import Path
from niwaki.models.forward import Batch, forward
from niwaki.models.model import load_folder
inputs = {name: torch.from_numpy(value) for name, value in numpy.load(sys.argv[1]).items()}
for folder in map(Path, sys.argv[2:]):
    model = load_folder(folder)
    given = {**inputs, "input_ids": inputs["input_ids"] % model.anatomy.tokens.num_embeddings}
    with torch.no_grad():
        numpy.save(folder / "again.npy", forward(model.anatomy, Batch(given, None, None)).logits.numpy())
"""


def in_a_new_process(folder: Path, names: list[str], inputs) -> None:
    np.savez(folder / "inputs.npz", **{name: value.numpy() for name, value in inputs.items()})
    new_process.run(LOADER, folder / "inputs.npz", *(folder / name for name in names))


@torch.no_grad()
def same_again(folder, model, inputs):
    given = {**inputs, "input_ids": inputs["input_ids"] % model.anatomy.tokens.num_embeddings}
    own = model.network(**given).logits.numpy()
    return np.isfinite(own).all() and np.array_equal(np.load(folder / "again.npy"), own)


def methods(family):
    return [kind(name)(**settings) for name, settings in FAMILIES[family]]


@pytest.mark.parametrize("pair", PAIRS, ids=" ".join)
def test_the_second_makes_the_first_smaller_and_it_loads_again(models_by_name, pair):
    folder, models, sizes, inputs = models_by_name
    larger = {
        ("sparse", "factorize")
    }  # half of all numbers in two full factors are more than three tenths and their bits
    assert (sizes[pair] <= sizes["first", pair[0]] * 1.02) == (pair not in larger)
    assert same_again(folder / " ".join(pair), models[pair], inputs)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_kind_of_compression_generates_the_same_text_with_onnx_and_torch(models_by_name, family):
    """Behind `cut`, after which heads and neurons are fewer; `distil` and `cut` themselves packed behind it."""
    folder, models, *_ = models_by_name
    pair = WITH_ONNX[family]
    write_graph(models[pair], folder / " ".join(pair))
    found = [Predictor(folder / " ".join(pair), engine, threads=1) for engine in ("onnx", "torch")]
    onnx, by_torch = (one.logits(one.tokenize(TEXTS)) for one in found)
    same = (onnx[:, 1:] == by_torch[:, 1:]).all(axis=1)  # rounded, a random network may find another text as likely
    packed = bool({"int8", "rtn"} & set(pair))
    assert same.sum() >= (4 if packed else 6)
    assert np.abs(onnx[same, 0] - by_torch[same, 0]).max() < (0.2 if packed else 1e-3)


@pytest.mark.parametrize("cut", [(), ("heads", "ffn"), ("layers", "hidden_size"), ("blocks",), ("int8",)], ids=" ".join)
def test_a_prefix_model_generates_the_same_text_with_onnx_and_torch(cut, tmp_path):
    model = done(fresh(ONE), [kind(name)(**EXAMPLES.get(name, {})) for name in cut], context(ONE))
    saved(model, tmp_path / "made")
    write_graph(model, tmp_path / "made")
    found = [Predictor(tmp_path / "made", engine, threads=1) for engine in ("onnx", "torch")]
    onnx, by_torch = (one.logits(one.tokenize(TEXTS)) for one in found)
    same = (onnx[:, 1:] == by_torch[:, 1:]).all(axis=1)
    assert same.sum() >= (4 if "int8" in cut else 6)
    assert np.abs(onnx[same, 0] - by_torch[same, 0]).max() < (0.2 if "int8" in cut else 1e-3)

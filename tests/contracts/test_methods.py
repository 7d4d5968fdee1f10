"""One set of checks over the whole catalogue of methods: a new file is under test the moment it exists.

Each method is made with its defaults, and with EXAMPLES where the defaults change nothing; a real stage of a tiny run
prepares, trains, finishes, saves and measures it.
"""

import itertools
import re
import shutil

import numpy as np
import pytest
import torch

import tiny
from niwaki.core import errors
from niwaki.core.files import fault_in_folder, read_json
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.methods import METHODS
from niwaki.methods._method import (
    AveragesWeights,
    ContributesLoss,
    KeepsStart,
    Method,
    Penalizes,
    Reshapes,
    ScalesLearningRates,
    Schedules,
    SelectsRows,
)
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.loop import Interrupted
from selection import rest_slow

from . import task_rows

EXAMPLES = {
    "student": {"layers": 2, "hidden": 16},
    "token_dropping": {"min_tokens": 1},
    "linear_mixing": {"tokens": 40},
    "soup": {"other_stages": ["teacher"]},
    "averaging": {"width": 8, "ffn_size": 8},
    "bilstm": {"width": 8, "ffn_size": 8, "units": 8},
    "cnn": {"width": 8, "ffn_size": 8, "filters": 4},
    "from_scratch": {"layers": 2, "hidden_size": 16, "heads": 2, "ffn_size": 32, "vocab_size": 300, "positions": 64},
}  # settings that show what a method does, where its defaults do nothing
NAMES = METHODS.names()
RUN = [name for name in NAMES if name != "add_decoder"]  # with it the teacher of those that follow is made
IMAGES = ("image_copies",)  # methods for models of images
SEQ2SEQ = ("decoder_kd", "decoder", "sequence_kd")  # methods for seq2seq models
# methods that leave other layers than they find
CUTS = ("blocks", "ffn", "heads", "joint", "l0", "layers", "student", "subnet")
NEW = ("from_scratch",)  # methods that put another network in place of the model
WHILE_TRAINING = (AveragesWeights, ContributesLoss, KeepsStart, Penalizes, ScalesLearningRates, Schedules, SelectsRows)
VISION = {
    "use": "from_scratch",
    "family": "vit",
    "image": {"size": 8, "patch": 4},
    "layers": 2,
    "hidden_size": 16,
    "heads": 2,
    "ffn_size": 24,
}
TRAIN = {"epochs": 0.25, "batch": 16, "lr": 1e-3, "precision": "fp32"}


def kind(name: str) -> type[Method]:
    return METHODS.load(name, Method)


def needs_teacher(name: str) -> bool:
    return kind(name).requires.teacher == "required"


def resets_head(name: str) -> bool:
    return issubclass(kind(name), Reshapes) and kind(name)().resets_head


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


def plan_for(name: str, settings: dict, bert_folder, rows_csv):
    method = {"use": name, **settings}
    stage = {"name": "made", "start": "teacher", "methods": [method]}
    if kind(name).requires.training or needs_teacher(name):
        stage["train"] = {**TRAIN, "epochs": 0.5} if name in SEQ2SEQ else TRAIN
    if needs_teacher(name):
        stage["teacher"] = "teacher"
    task, data, first = "classification", {"path": str(rows_csv)}, []
    if name in SEQ2SEQ:
        rows = rows_csv.with_name("writing.jsonl")
        task, first = "generation", [task_rows.ADD_DECODER]
        data = {
            "path": str(rows if rows.exists() else task_rows.write("generation", rows.parent)),
            **task_rows.SHORT["generation"],
        }
    if name == "subnet":
        first = [{"use": "supernet", "batches": 1}]
    if name in IMAGES:
        rows = rows_csv.with_name("rows.npz")
        task, first = "image_classification", [VISION]
        data = {"path": str(rows if rows.exists() else task_rows.images(rows, 90))}
    if kind(name).requires.pairs:
        rows = rows_csv.with_name("pairs.csv")
        data = {"path": str(rows if rows.exists() else tiny.write_pairs_csv(rows))}
    stages = [{"name": "teacher", "methods": first, "train": TRAIN}, stage]
    return make_plan(
        parse({"model": str(bert_folder), "task": task, "data": data, "quantize": [], "stages": stages}), "contract"
    )


def run(plan, folder, should_stop=lambda: False):
    ledger = Ledger(folder / "ledger.jsonl")
    for stage in plan.stages:
        run_stage(plan, stage, folder, ledger, should_stop)
    return [folder / stage.folder for stage in plan.stages]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """One run folder for all: the teacher is made once, then found by its key."""
    folder = tmp_path_factory.mktemp("contract")
    (folder / "stages").mkdir()
    return folder


@pytest.fixture(scope="module")
def run_method(home, bert_folder, rows_csv):
    """Name → the folders of the teacher and of the stage with the method; each is made once."""
    done: dict[str, list] = {}

    def get(name):
        if name not in done:
            done[name] = run(plan_for(name, EXAMPLES.get(name, {}), bert_folder, rows_csv), home)
        return done[name]

    return get


def test_names_are_unique():
    assert len(set(NAMES)) == len(NAMES) and NAMES


@pytest.mark.parametrize("name", NAMES)
def test_defaults_construct_and_every_setting_has_its_remark(name):
    method = kind(name)()
    assert method.helpers is None
    for field, about in kind(name).model_fields.items():
        assert about.description, f"{field} has no remark"
    assert set(kind(name).requires.reduces) <= {"file", "memory", "flops", "time"}
    with pytest.raises(errors.InputError, match="unknown key"):
        from niwaki.core.settings import check

        check(kind(name), {"no_such_setting": 1})


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_says_idea_paper_and_cost(name):
    text = METHODS.module(name).__doc__
    idea, _, rest = text.partition("\n\n")
    assert 20 < len(idea) < 400
    assert re.search(r"^Paper: .*\d{4}", rest, re.MULTILINE) and re.search(r"^Cost: \S", rest, re.MULTILINE)


@pytest.mark.parametrize("name", RUN)
def test_a_stage_with_the_method_is_complete(run_method, name):
    _, stage = run_method(name)
    assert fault_in_folder(stage) is None
    result = read_json(stage / "result.json")
    assert 0 <= result["score"]["low"] <= result["score"]["value"] <= result["score"]["high"] <= 1
    assert (result["training"] is None) == (not (stage / "train.jsonl").exists())
    assert result["engine"] == "onnx" and result["parity"] < 0.5


@pytest.fixture(scope="module")
def uneven_folder(tmp_path_factory):
    """As `l0` or `blocks` leave a model: no two layers have as many heads, or neurons."""
    model, folder = tiny.model("bert"), tmp_path_factory.mktemp("uneven")
    model.apply_edit(Heads(keep=[[2], [0, 1, 2, 3], [0, 3]]))
    model.apply_edit(Ffn(keep=[[0, 5, 9], list(range(64)), list(range(40))]))
    model.save(folder)
    return folder


# fast: the methods that change the layers, and one method of each other kind
DIFFERENT = {*CUTS, "int8", "share", "tinybert"}


@pytest.mark.parametrize("name", rest_slow([name for name in RUN if name not in SEQ2SEQ + IMAGES], DIFFERENT))
def test_layers_may_differ(uneven_folder, home, rows_csv, name):
    """The model gives the same answers after loading, or the plan is rejected before any work."""
    try:
        plan = plan_for(name, EXAMPLES.get(name, {}), uneven_folder, rows_csv)
    except errors.InputError as error:
        assert "layer" in str(error)
        return
    _, stage = run(plan, home)
    assert read_json(stage / "result.json")["parity"] < 0.5
    sizes = [(layer.heads, layer.ffn_size) for layer in load_folder(stage / "model").anatomy.layers]
    assert all(heads <= 4 and neurons <= 64 for heads, neurons in sizes)
    if name not in (*CUTS, *NEW) and sizes:
        wanted = [(1, 3), (4, 64), (2, 40)]  # or no heads, where another mixer took the place of attention
        assert all(have == want or have == (0, want[1]) for have, want in zip(sizes, wanted, strict=True))


# fast: the methods that act while training, but for those that act as another one does; the others change the network before or
# behind training, which resumes alike
AS_ANOTHER = ("attention_relations", "cosine", "layerwise_lr", "moefication", "movement", "pkd", "sparse_upcycling")
ACTING = [name for name in RUN if issubclass(kind(name), WHILE_TRAINING) or name in ("mixout", "lora", "ternary")]
ACTING = [name for name in ACTING if name not in AS_ANOTHER]


@pytest.mark.parametrize("name", rest_slow(RUN, ACTING))
def test_the_same_seed_gives_the_same_weights_also_when_interrupted(run_method, tmp_path, bert_folder, rows_csv, name):
    """What a method remembers from step to step must be in its helpers, or be computed from the step."""
    teacher, stage = run_method(name)
    folder = tmp_path / "run"  # finished stages are shared between the runs next to each other
    (folder / "stages").mkdir(parents=True)
    shutil.copytree(teacher, folder / "stages" / teacher.name)
    plan = plan_for(name, EXAMPLES.get(name, {}), bert_folder, rows_csv)
    if plan.stages[-1].spec.train:
        calls = itertools.count()
        with pytest.raises(Interrupted):
            run(plan, folder, lambda: next(calls) == 3)  # before stages and after steps
        assert list(folder.glob("stages/.work-made-*/checkpoint-*"))
    _, again = run(plan_for(name, EXAMPLES.get(name, {}), bert_folder, rows_csv), folder)
    assert again.name == stage.name
    graphs = [path.name for path in (stage / "model").glob("*.onnx")]
    reader = "preprocessor_config.json" if name in IMAGES else "tokenizer.json"
    for file in ("model.safetensors", reader, *graphs):
        assert (again / "model" / file).read_bytes() == (stage / "model" / file).read_bytes(), file


@pytest.mark.parametrize("name", RUN)
def test_what_is_saved_loads_to_equal_outputs_and_carries_no_helpers(run_method, tmp_path, name):
    _, stage = run_method(name)
    model = load_folder(stage / "model")
    model.save(tmp_path)
    assert torch.equal(tiny.logits(model, tiny.batch(model)), tiny.logits(load_folder(tmp_path), tiny.batch(model)))
    assert np.isfinite(tiny.logits(model, tiny.batch(model)).numpy()).all()
    assert all(parameter.requires_grad for parameter in model.network.parameters())
    assert not any("helper" in key for key in model.network.state_dict())


@pytest.mark.parametrize("name", [name for name in RUN if name != "from_scratch"])  # which makes a network of any size
def test_what_claims_to_be_smaller_is_smaller(run_method, name):
    before, after = (read_json(folder / "result.json") for folder in run_method(name))
    if "file" in kind(name).requires.reduces:
        assert after["bytes"] < before["bytes"]
    elif kind(name).requires.adds_parameters:
        assert after["parameters"] > before["parameters"]
    elif not kind(name).requires.fits_head and not resets_head(name):
        assert after["parameters"] == before["parameters"]
    if "flops" in kind(name).requires.reduces:
        assert after["flops"] < before["flops"]
    else:
        assert after["flops"] >= before["flops"]  # a table made narrow is widened by a product


@pytest.mark.parametrize("name", NAMES)
def test_a_method_that_needs_a_teacher_or_training_says_so_before_any_work(name):
    faults = []
    try:
        parse({"stages": [{"name": "a", "methods": [{"use": name}]}]})
    except errors.InputError as error:
        faults = error.faults
    assert any("needs a teacher" in fault for fault in faults) == needs_teacher(name)
    assert any("acts while training" in fault for fault in faults) == kind(name).requires.training


COMBINED = {
    "narrow": [[{"use": "student", "layers": 2, "hidden": 16}, {"use": "tinybert", "attention": 0}, {"use": "logits"}]],
    "deep": [[{"use": "student", "layers": 1}, {"use": "tinybert", "mapping": "top"}]],
    "pruned": [[{"use": "vocabulary"}, {"use": "heads"}, {"use": "ffn"}, {"use": "logits"}], [{"use": "int8"}]],
    "mixers": [
        [
            {"use": "window", "window": 2, "layers": [0]},
            {"use": "linear_attention", "layers": [1], "steps": 2},
            {"use": "heads"},
            {"use": "ffn"},
            {"use": "logits"},
        ],
        [{"use": "int8"}],
    ],
    "shorter": [[{"use": "token_dropping", "min_tokens": 2}, {"use": "ffn"}, {"use": "logits"}], [{"use": "int8"}]],
    "recurrent": [
        [{"use": "vocabulary"}, {"use": "bilstm", "width": 8, "units": 8}, {"use": "logits"}],
        [{"use": "int8"}],
    ],
    "filters": [
        [{"use": "cnn", "filters": 8}, {"use": "freeze"}],
        [{"use": "vocabulary"}, {"use": "ffn", "multiple": 4}],
    ],
    "packed": [[{"use": "freeze", "layers": 1}, {"use": "heads"}, {"use": "int8"}], [{"use": "ffn"}]],
}


@pytest.mark.parametrize("name", COMBINED)
def test_methods_combine_in_one_stage_and_over_several(home, bert_folder, rows_csv, tmp_path, name):
    stages = [{"name": "teacher", "train": TRAIN}]
    for number, methods in enumerate(COMBINED[name]):
        trained = any(kind(method["use"]).requires.training for method in methods)
        heard = {"teacher": "teacher"} if any(needs_teacher(method["use"]) for method in methods) else {}
        stages.append({"name": f"made{number}", "methods": methods, **heard, **({"train": TRAIN} if trained else {})})
    recipe = {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(rows_csv)},
        "quantize": [],
        "stages": stages,
    }
    folders = run(make_plan(parse(recipe), "contract"), home)
    sizes = [read_json(folder / "result.json")["bytes"] for folder in folders]
    assert sizes == sorted(sizes, reverse=True)
    model = load_folder(folders[-1] / "model")
    model.save(tmp_path)
    assert torch.equal(tiny.logits(model, tiny.batch(model)), tiny.logits(load_folder(tmp_path), tiny.batch(model)))
    assert read_json(folders[-1] / "result.json")["parity"] < 0.5

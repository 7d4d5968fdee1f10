"""Parameter-efficient tuning: what is trained, on float and on packed trunks, and what is left."""

import pytest
import torch

import tiny
from calibrated import CONTEXT
from niwaki.core.errors import InputError
from niwaki.core.files import read_json
from niwaki.meter.ledger import Ledger
from niwaki.methods.adapt._tuning import reject_packed
from niwaki.methods.adapt.adapters import Adapters
from niwaki.methods.adapt.bitfit import Bitfit
from niwaki.methods.adapt.ia3 import Ia3
from niwaki.methods.adapt.lora import Lora
from niwaki.methods.adapt.prefix_tuning import PrefixTuning
from niwaki.methods.adapt.prompt_tuning import PromptTuning
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.forward import forward
from niwaki.models.model import load_folder
from niwaki.models.skeleton import CONDITIONAL_GENERATION
from niwaki.models.trunk import is_of_delta, trunk_name
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage

METHODS = [Adapters(), Bitfit(), Ia3(merge=False), Lora(merge=False), PrefixTuning(tokens=3), PromptTuning(tokens=3)]
PACKS = {"floats": None, "int8": Int8(small_weights=True), "low_bit": LowBit(base=16, group=16, small_weights=True)}
HEAD = ("classifier.", "bert.pooler.")


def trained_names(model):
    return {name for name, one in model.network.named_parameters() if one.requires_grad}


@pytest.mark.parametrize("pack", PACKS)
@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.label())
def test_only_deltas_and_the_head_change(method, pack, tmp_path):
    model = tiny.model("bert")
    if PACKS[pack] is not None:
        model.apply_edit(PACKS[pack])
    model = method.prepare(model, CONTEXT)
    before = {name: value.clone() for name, value in model.network.state_dict().items()}
    batch = tiny.batch(model)
    optimizer = torch.optim.SGD([one for one in model.network.parameters() if one.requires_grad], lr=0.05)
    for _ in range(2):  # in the first step, the inner matrix of a delta that starts at 0 has no gradient
        forward(model.anatomy, batch).logits.square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    model = method.finish(model)
    changed = {name for name, value in model.network.state_dict().items() if not torch.equal(value, before[name])}
    body = {name for name in changed if not name.startswith("classifier")}
    if isinstance(method, Bitfit):
        assert body and all(name.endswith(".bias") for name in body)
    else:
        assert body == {name for name in before if is_of_delta(name)}
    assert changed - body == {"classifier.weight", "classifier.bias"}
    assert all(one.requires_grad for one in model.network.parameters())
    model.save(tmp_path)
    assert torch.equal(forward(load_folder(tmp_path).anatomy, batch).logits, forward(model.anatomy, batch).logits)


def test_the_pooler_is_trained_on_request():
    for method in (Lora(pooler=True), Bitfit(pooler=True)):
        assert "bert.pooler.dense.weight" in trained_names(method.prepare(tiny.model("bert"), CONTEXT))
    assert "bert.pooler.dense.weight" not in trained_names(Lora().prepare(tiny.model("bert"), CONTEXT))
    assert "classifier.dense.weight" in trained_names(Lora().prepare(tiny.model("roberta"), CONTEXT))


def test_networks_that_generate_train_deltas_alone():
    model = Lora(targets=["query"]).prepare(tiny.model("bert", head=CONDITIONAL_GENERATION), CONTEXT)
    assert trained_names(model) and all(is_of_delta(name) for name in trained_names(model))


@pytest.mark.parametrize("pack", ["int8", "low_bit"])
@pytest.mark.parametrize("method", [Lora(), Ia3()], ids=lambda method: method.label())
def test_merging_into_packed_weights_is_rejected_before_any_work(method, pack):
    model = tiny.model("bert")
    model.apply_edit(PACKS[pack])
    with pytest.raises(InputError, match=r"is stored as \w+, and merging would round .* set merge = false"):
        method.dry_finish(method.dry_prepare(model))
    reject_packed("lora", "query", torch.nn.Linear(2, 2))


@pytest.mark.parametrize(
    "method",
    [{"use": "lora", "merge": False}, pytest.param({"use": "prompt_tuning", "tokens": 3}, marks=pytest.mark.slow)],
    ids=str,
)
def test_deltas_on_packed_weights_learn_from_a_teacher(method, bert_folder, rows_csv, tmp_path):
    """Stages as in a recipe: a teacher, a trunk of 4 bits, and a delta that follows the teacher's layers and answers."""
    train = {"epochs": 0.5, "batch": 16, "lr": 1e-3, "precision": "fp32"}
    stages = [
        {"name": "teacher", "train": train},
        {"name": "packed", "methods": [{"use": "rtn"}]},
        {
            "name": "tuned",
            "teacher": "teacher",
            "methods": [method, {"use": "tinybert"}, {"use": "logits"}],
            "train": train,
        },
    ]
    recipe = {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv)}, "quantize": []}
    plan, ledger = make_plan(parse({**recipe, "stages": stages}), "tuned"), Ledger(tmp_path / "ledger.jsonl")
    (tmp_path / "stages").mkdir()
    for stage in plan.stages:
        run_stage(plan, stage, tmp_path, ledger, lambda: False)
    packed, tuned = (tmp_path / stage.folder for stage in plan.stages[1:])
    before, after = (load_folder(folder / "model") for folder in (packed, tuned))
    state = {trunk_name(name): value for name, value in after.network.state_dict().items() if not is_of_delta(name)}
    for name, value in before.network.state_dict().items():
        assert torch.equal(state[name], value) or name.startswith("classifier"), name
    result = read_json(tuned / "result.json")
    assert result["engine"] == "onnx" and result["parity"] < 0.5 and result["training"]["trained_share"] < 0.2


@pytest.mark.parametrize(
    "method", [Lora(merge=False), Adapters(placement="houlsby"), Bitfit()], ids=lambda m: m.label()
)
@pytest.mark.parametrize("head", [CONDITIONAL_GENERATION, "TokenClassification"])
def test_other_heads_train_and_export(method, head, tmp_path):
    labels = ["O", "B", "I"] if head == "TokenClassification" else tiny.LABELS
    model = method.prepare(tiny.model("bert", layers=1, head=head, labels=labels), CONTEXT)
    outputs = forward(model.anatomy, tiny.batch(model))
    outputs.logits.square().sum().backward()
    assert all(one.grad is not None for one in model.network.parameters() if one.requires_grad)
    tiny.with_graphs(method.finish(model), tmp_path)
    assert list(tmp_path.glob("*.onnx"))

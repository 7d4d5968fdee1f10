"""The trained share: in the log of a stage, in its result and on the page."""

import tiny
from calibrated import CONTEXT
from niwaki.core.files import read_json, read_lines
from niwaki.meter.ledger import Ledger
from niwaki.methods.adapt.lora import Lora
from niwaki.models.edits.int8 import Int8
from niwaki.report.page_plots import _how
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.checkpoints import TrainerState
from niwaki.train.trained_share import share_record, trained_and_all

DELTA = 3 * 2 * 2 * 2 * 32  # layers, matrices, factors of rank 2
HEAD = 2 * 32 + 2


def test_parameters_are_counted_packed_ones_too():
    model = tiny.model("bert")
    every = model.parameters()
    assert trained_and_all(model) == (every, every)
    model.apply_edit(Int8())
    model = Lora(rank=2, merge=False).prepare(model, CONTEXT)
    trained, stored = trained_and_all(model)
    assert trained == DELTA + HEAD and stored > every + DELTA  # scales are stored too
    record = share_record(TrainerState(trained_parameters=25, all_parameters=1000))
    assert record == {"kind": "parameters", "step": 0, "trained": 25, "all": 1000, "share": 0.025}


def test_a_stage_states_its_share(bert_folder, rows_csv, tmp_path):
    train = {"epochs": 0.5, "batch": 16, "lr": 1e-3, "precision": "fp32"}
    stage = {"name": "tuned", "methods": [{"use": "lora", "rank": 2}], "train": train}
    recipe = {"model": str(bert_folder), "task": "classification", "data": {"path": str(rows_csv)}, "quantize": []}
    plan = make_plan(parse({**recipe, "stages": [stage]}), "share")
    (tmp_path / "stages").mkdir()
    run_stage(plan, plan.stages[0], tmp_path, Ledger(tmp_path / "ledger.jsonl"), lambda: False)
    folder = tmp_path / plan.stages[0].folder
    first = read_lines(folder / "train.jsonl")[0]
    assert first["kind"] == "parameters" and first["trained"] == DELTA + HEAD
    training = read_json(folder / "result.json")["training"]
    assert training["trained_parameters"] == DELTA + HEAD
    assert abs(training["trained_share"] - first["share"]) < 1e-6
    assert _how({"training": training}).endswith(f"{DELTA + HEAD} parameters trained ({100 * first['share']:.2g} %)")

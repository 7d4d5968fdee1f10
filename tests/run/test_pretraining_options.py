"""Options that make pretraining cheaper, through runs: resumed with the same bits, and shapes that grow or are cut."""

import json

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.core.files import sha256
from niwaki.evaluate import quality
from niwaki.meter.ledger import Ledger
from niwaki.models.model import load_folder
from niwaki.run.plan import make_plan
from niwaki.run.recipe import parse
from niwaki.run.runner import run_stage
from niwaki.train.loop import Interrupted

SHAPE = {"layers": 2, "hidden_size": 32, "heads": 4, "ffn_size": 64, "vocab_size": 300, "positions": 40}
TRAIN = {"objective": "masked_lm", "epochs": 1, "batch": 16, "lr": 2e-3, "precision": "fp32", "dropout": 0.1}


@pytest.fixture(autouse=True)
def _quick(monkeypatch, quick_disk):
    monkeypatch.setattr(quality, "RESAMPLES", 10)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    pairs = zip(tiny.sentences(120), tiny.sentences(120, 1), strict=True)
    texts = dict.fromkeys(f"{one} {other}" for (one, _), (other, _) in pairs)
    (folder / "corpus.txt").write_text("\n\n".join(texts))
    return folder / "corpus.txt"


def planned(bert_folder, corpus, tmp_path, *stages):
    data = {"path": str(corpus), "max_tokens": 24, "validation": 0.1, "test": 0.1, "cache": str(tmp_path / "tokens")}
    values = {"model": str(bert_folder), "task": "language_modeling", "data": data, "quantize": [], "baselines": False}
    return make_plan(parse({**values, "cache": {"stages": False}, "stages": list(stages)}), "options")


def stage(methods=(), name="lm", **train):
    shape = [{"use": "from_scratch", **SHAPE}] if name == "lm" else []
    return {"name": name, "methods": [*shape, *methods], "train": {**TRAIN, **train}}


def run(plan, folder, should_stop=lambda: False):
    (folder / "stages").mkdir(parents=True, exist_ok=True)
    for one in plan.stages:
        run_stage(plan, one, folder, Ledger(folder / "ledger.jsonl"), should_stop)
    return folder / plan.stages[-1].folder


def test_growing_batches_of_short_sequences_resume_with_the_same_bits(bert_folder, corpus, tmp_path):
    given = stage(batch_growth=4, short_tokens=10, short_share=0.6)
    plan = planned(bert_folder, corpus, tmp_path, given)
    whole = run(plan, tmp_path / "whole")
    steps = iter(range(100))
    with pytest.raises(Interrupted):
        run(plan, tmp_path / "torn", lambda: next(steps) == 4)
    torn = run(plan, tmp_path / "torn")
    assert sha256(torn / "model" / "model.safetensors") == sha256(whole / "model" / "model.safetensors")
    records = [json.loads(line) for line in (whole / "train.jsonl").read_text().splitlines()]
    assert records[-1]["epoch"] == 1.0 and records[-1]["step"] > 8
    plain = planned(bert_folder, corpus, tmp_path, stage())
    assert plain.stages[0].key != plan.stages[0].key


def test_a_stage_goes_on_with_twice_the_layers(bert_folder, corpus, tmp_path):
    deeper = stage([{"use": "stack"}], "deeper", epochs=0.5)
    model = load_folder(run(planned(bert_folder, corpus, tmp_path, stage(), deeper), tmp_path / "run") / "model")
    assert len(model.anatomy.order) == 4 and not model.blueprint.edits
    assert model.network.config.niwaki_answer["scoring"] == "masked"


def test_a_stage_begins_with_a_slice_of_a_language_model(bert_folder, corpus, tmp_path):
    narrow = stage([{"use": "student", "layers": 1, "hidden": 16, "heads": 2}], "narrow", epochs=0.5)
    folder = run(planned(bert_folder, corpus, tmp_path, stage(), narrow), tmp_path / "run")
    model, start = (
        load_folder(folder / "model"),
        load_folder(next((tmp_path / "run" / "stages").glob("lm-*")) / "model"),
    )
    assert (len(model.anatomy.layers), model.anatomy.hidden_size) == (1, 16)
    assert model.parameters() < start.parameters() and type(model.network) is type(start.network)


def test_objectives_that_read_whole_sequences_reject_short_ones(bert_folder, corpus, tmp_path):
    rows = [{"text": text, "label": label} for text, label in tiny.sentences(60)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    values = {
        "model": str(bert_folder),
        "task": "classification",
        "data": {"path": str(tmp_path / "rows.jsonl")},
        "stages": [{"name": "tuned", "train": {"epochs": 1, "short_tokens": 8}}],
    }
    with pytest.raises(InputError, match=r"train.short_tokens: .* objective 'supervised' reads them whole"):
        make_plan(parse(values), "tuned")

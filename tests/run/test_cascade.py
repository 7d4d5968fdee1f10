"""Cascades of saved models: invalid arguments, the written folder, and the share of the score that is kept on unseen rows."""

import json
import shutil

import pytest
import torch

import tiny
from engines.kinds import model_of, saved
from niwaki import api
from niwaki.core.errors import GateMissed, InputError, UsageError
from niwaki.core.files import fault_in_folder
from niwaki.engines.cascade import Cascade
from niwaki.engines.predictor import Predictor
from niwaki.evaluate import quality, thresholds
from niwaki.run import cascade as module
from niwaki.tasks.classification import Classification

SPLITS = ["data.validation=0.4", "data.test=0.2"]


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return tiny.write_csv(tmp_path_factory.mktemp("rows") / "rows.csv", count=700, seed=6)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The better model is random; the cheap one is the same but for noise in its head, so that they mostly agree."""
    folder = tmp_path_factory.mktemp("models")
    best = tiny.model("averaging", seed=1)
    saved(best, folder / "best")
    cheap = tiny.model("averaging", seed=1)
    head = list(cheap.network.parameters())[-2]
    with torch.no_grad():
        head.add_(0.05 * torch.randn(head.shape, generator=torch.Generator().manual_seed(0)))
    saved(cheap, folder / "cheap")
    (folder / "cheap" / "pytorch_model.bin").write_bytes(b"junk")
    return [folder / "cheap", folder / "best"]


@pytest.fixture(autouse=True)
def _short(monkeypatch, quick_disk):
    monkeypatch.setattr(module, "TEXTS", 16)


def make(models, rows, out, **more):
    return api.cascade(models, data=rows, out=out, overrides=SPLITS, **{"keep": 0.9, **more})


def test_a_cascade_can_be_saved_loaded_and_scored(models, rows, tmp_path):
    summary = make(models, rows, tmp_path / "folder")
    assert (
        summary["validation"]["rows"] == 280 and summary["validation"]["kept"] >= 0.9 and summary["test"]["rows"] == 140
    )
    shares = [model["answers"] for model in summary["models"]]
    assert sum(shares) == pytest.approx(1) and shares[0] > 0.3
    assert list(summary["speed"]) == ["1 cheap", "2 best", "cascade"] and summary["speed"]["2 best"]["ratio"][
        "value"
    ] == pytest.approx(1)
    assert all(entry["seconds_per_input"] > 0 for entry in summary["speed"].values())
    folder = tmp_path / "folder"
    assert fault_in_folder(folder) is None and json.loads((folder / "chosen.json").read_text())["keep"] == 0.9
    assert sorted(path.name for path in (folder / "model-0").iterdir()) == sorted(
        path.name for path in models[1].iterdir()
    )
    loaded = api.load(folder)
    assert isinstance(loaded, Cascade) and [step.threshold for step in loaded.plan.steps] == [summary["threshold"], 0.0]
    scored = api.evaluate(folder, data=rows, overrides=SPLITS)
    assert scored["value"] == pytest.approx(summary["test"]["score"])
    table = Classification(path=str(rows), validation=0.4, test=0.2).splits()["validation"]
    texts = table.column("text").to_pylist()
    by = loaded.predict_with_steps(texts, loaded.tokenize(texts))[1]
    assert (by == 0).mean() == pytest.approx(shares[0], abs=0.02)


def test_a_model_with_exits_takes_an_engine_that_can_be_left(tmp_path, monkeypatch):
    """OpenVINO's cannot be, though it may win the race."""
    folder = tiny.deployed(tiny.model("bert", niwaki_exits=[1]), tmp_path / "model-folder")
    with pytest.raises(InputError, match="'openvino' does not support"):
        module.parts_of([folder], "openvino")
    monkeypatch.setattr("niwaki.engines.predictor.fastest_engine", lambda *given: "openvino")
    parts = module.parts_of([folder], "auto")
    assert [part.layers for part in parts] == [1, 0] and parts[0].model.engine in ("native", "onnx")


def test_a_copy_elsewhere_is_the_same(models, rows, tmp_path):
    make(models, rows, tmp_path / "made")
    texts = [text for text, _ in tiny.sentences(30, seed=2)]
    before = api.load(tmp_path / "made", engine="onnx").values(texts)
    shutil.move(tmp_path / "made", tmp_path / "moved")
    assert api.load(tmp_path / "moved", engine="onnx").values(texts) == before


def test_a_cascade_is_not_written_if_the_rows_are_too_few(models, rows, tmp_path):
    with pytest.raises(
        GateMissed,
        match=r"280 validation rows do not show with 95% confidence that 99\.9% of the accuracy is kept.*about \d+ rows",
    ):
        make(models, rows, tmp_path / "made", keep=0.999)
    assert list(tmp_path.iterdir()) == []


def test_only_a_cascade_is_replaced_and_only_with_force(models, rows, tmp_path):
    make(models, rows, tmp_path / "made")
    with pytest.raises(InputError, match="exists already; --force"):
        make(models, rows, tmp_path / "made")
    make(models, rows, tmp_path / "made", force=True, level=0.8)
    assert json.loads((tmp_path / "made" / "cascade.json").read_text())["level"] == 0.8
    (tmp_path / "mine").mkdir()
    with pytest.raises(InputError, match="it is no cascade"):
        make(models, rows, tmp_path / "mine", force=True)
    with pytest.raises(InputError, match="is a cascade; give the models"):
        make([models[0], tmp_path / "made"], rows, tmp_path / "other")


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({"keep": 0.0}, "keep must be"),
        ({"keep": 1.1}, "keep must be"),
        ({"keep": float("nan")}, "keep must be"),
        ({"level": 1.0}, "level"),
    ],
)
def test_invalid_arguments_are_rejected(models, rows, tmp_path, more, line):
    with pytest.raises(UsageError, match=line):
        make(models, rows, tmp_path / "made", **more)
    with pytest.raises(UsageError, match="two models or more"):
        make(models[:1], rows, tmp_path / "made")


def test_models_of_another_task(models, rows, tmp_path):
    other = saved(tiny.model("averaging", labels=["no", "yes"]), tmp_path / "other")
    with pytest.raises(InputError, match="all must have the same"):
        make([models[0], other], rows, tmp_path / "made")
    with pytest.raises(InputError, match="choose the task it was made for"):
        make([other, saved(tiny.model("averaging", labels=["no", "yes"]), tmp_path / "more")], rows, tmp_path / "made")
    assert Predictor(other).labels == ["no", "yes"]


# ── other kinds of answers ──────────────────────────────────────────────────────────────────────────────────────────


def noisy(kind, size):
    """The same model but for a little noise in all of it."""
    model = model_of(kind, seed=1)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.network.parameters():
            parameter.add_(size * torch.randn(parameter.shape, generator=generator))
    return model


def answered(kind, folder, form):
    """A model, one that mostly agrees with it, and rows whose right answers are the model's own."""
    best, cheap = saved(model_of(kind, seed=1), folder / "best"), saved(noisy(kind, 0.01), folder / "cheap")
    texts = [text.rstrip(".") for text, _ in tiny.sentences(300, seed=9)]
    inputs = [text.split() for text in texts] if kind == "tags" else texts
    rows = [dict(zip(form, pair, strict=True)) for pair in zip(inputs, Predictor(best).values(inputs), strict=True)]
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows if row[form[1]]))
    return [cheap, best], path


@pytest.mark.parametrize(
    ("kind", "form", "task", "metric"),
    [
        ("text", ("source", "target"), "translation", "bleu"),
        ("tags", ("tokens", "tags"), "tagging", "f1_entities"),
    ],
)
def test_a_cascade_of_another_answer_type_can_be_saved_loaded_and_scored(
    kind, form, task, metric, tmp_path, monkeypatch
):
    monkeypatch.setattr(quality, "RESAMPLES", 100)
    monkeypatch.setattr(thresholds, "STEPS", 40)
    models, rows = answered(kind, tmp_path, form)
    summary = api.cascade(models, task=task, data=rows, out=tmp_path / "made", overrides=SPLITS, keep=0.9)
    assert summary["metric"] == metric and [model["temperature"] for model in summary["models"]] == [1.0, 1.0]
    assert summary["models"][1]["score"] == pytest.approx(1) and summary["validation"]["kept"] >= 0.9
    assert 0.1 < summary["models"][0]["answers"] < 1 and summary["models"][0]["score"] < summary["validation"]["score"]
    scored = api.evaluate(tmp_path / "made", task=task, data=rows, overrides=SPLITS)
    assert scored["value"] == pytest.approx(summary["test"]["score"]) and summary["test"]["rows"] == scored["rows"]
    found = api.predict_file(tmp_path / "made", rows, tmp_path / "out.jsonl", columns=[form[0]])
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert found["inputs"] == len(lines) > 250
    generated = [line["generated"] if kind == "text" else line["tags"] for line in lines]
    inputs = [json.loads(line)[form[0]] for line in rows.read_text().splitlines()]
    assert generated == api.load(tmp_path / "made").values(inputs)


def test_a_cascade_that_is_slower_than_its_last_model_is_reported(monkeypatch):
    messages = []
    monkeypatch.setattr(module, "info", messages.append)
    module.warn_if_slower({"value": 0.9, "low": 0.7, "high": 1.1})
    assert messages == []
    module.warn_if_slower({"value": 0.76, "low": 0.69, "high": 0.83})
    assert len(messages) == 1 and "0.76 × as fast as the last model alone" in messages[0]


def test_a_task_of_another_kind(models, rows, tmp_path):
    written = [saved(model_of("text", seed=number), tmp_path / str(number)) for number in range(2)]
    with pytest.raises(InputError, match="answers with a text, the task wants a label"):
        make(written, rows, tmp_path / "made")
    numbers = [saved(model_of("number", seed=number), tmp_path / f"n{number}") for number in range(2)]
    with pytest.raises(InputError, match="its answer type number has no confidence"):
        make(numbers, rows, tmp_path / "made")

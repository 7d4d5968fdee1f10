"""A cascade answers like its first confident model and is used like one model; invalid folders are rejected."""

import json
import math
import shutil

import numpy as np
import pytest

import tiny
from engines.cascades import assert_rejected
from engines.kinds import model_of, saved
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder, write_json
from niwaki.engines.cascade import CASCADE, Cascade, check_compatible, is_cascade
from niwaki.engines.predictor import Predictor

TEXTS = [text for text, _ in tiny.sentences(60, seed=8)]


THRESHOLDS = (0.9, 0.97)


TEMPERATURES = (0.7, 1.6, 1.1)


def plan(thresholds=THRESHOLDS, **changes):
    steps = [
        {"folder": f"model-{k}", "temperature": temperature, "threshold": threshold}
        for k, (temperature, threshold) in enumerate(zip(TEMPERATURES, (*thresholds, 0.0), strict=True))
    ]
    return {"version": 1, "steps": steps, **changes}


@pytest.fixture(scope="module")
def cascade_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cascade") / "made"
    with commit_folder(folder) as inner:
        for number, family in enumerate(("averaging", "cnn", "bert")):
            saved(tiny.model(family, seed=number, layers=1), inner / f"model-{number}")
        write_json(inner / CASCADE, plan())
    return folder


def copied(cascade_folder, tmp_path):
    """Without its MANIFEST: what a stranger may change."""
    shutil.copytree(cascade_folder, tmp_path / "copy")
    (tmp_path / "copy" / "MANIFEST").unlink()
    return tmp_path / "copy"


def by_hand(cascade_folder):
    """All models on all inputs, and then the rule."""
    logits = [
        one.logits(one.tokenize(TEXTS)) / temperature
        for one, temperature in zip(each(cascade_folder), TEMPERATURES, strict=True)
    ]
    found, by = [], []
    for row in range(len(TEXTS)):
        shares = [np.exp(one[row]) / np.exp(one[row]).sum() for one in logits]
        number = 0 if shares[0].max() >= THRESHOLDS[0] else 1 if shares[1].max() >= THRESHOLDS[1] else 2
        found.append(shares[number])
        by.append(number)
    return np.array(found), by


def each(cascade_folder):
    return [Predictor(cascade_folder / f"model-{number}") for number in range(3)]


def test_first_confident_model_answers(cascade_folder):
    cascade = Cascade(cascade_folder)
    wanted, by = by_hand(cascade_folder)
    assert min(by.count(number) for number in range(3)) >= 5  # all three are needed
    answers, numbers = cascade.predict_with_steps(TEXTS, cascade.tokenize(TEXTS))
    assert numbers.tolist() == by and answers == cascade.predict(TEXTS)
    assert (
        [answer.label for answer in answers] == cascade.values(TEXTS) == [tiny.LABELS[row.argmax()] for row in wanted]
    )
    np.testing.assert_allclose([list(answer.probabilities.values()) for answer in answers], wanted, atol=1e-5)


def test_cascade_is_loaded_and_used_like_one_model(cascade_folder):
    loaded = api.load(cascade_folder, engine="onnx")
    assert isinstance(loaded, Cascade) and isinstance(loaded, Predictor) and is_cascade(cascade_folder)
    assert loaded.labels == tiny.LABELS and loaded.engine == "onnx onnx onnx" and "models=3" in repr(loaded)
    assert loaded.predict([]) == [] and len(loaded.predict("a film")) == len(loaded.predict(("a film", "the end"))) == 1
    with pytest.raises(InputError, match=r"texts\.1: is empty"):
        loaded.predict(["a film", " "])


def test_thresholds_0_and_1_use_the_first_and_last_model(cascade_folder, tmp_path):
    folder = copied(cascade_folder, tmp_path)
    for threshold, number in ((0.0, 0), (1.0, 2)):
        write_json(folder / CASCADE, plan((threshold, threshold)))
        cascade = Cascade(folder)
        assert set(cascade.predict_with_steps(TEXTS, cascade.tokenize(TEXTS))[1]) == {number}


def test_later_models_only_get_the_remaining_inputs(cascade_folder, monkeypatch):
    cascade = Cascade(cascade_folder)
    counts = []
    for model in cascade.models:
        monkeypatch.setattr(
            model, "tokenize", lambda inputs, real=model.tokenize: (counts.append(len(inputs)), real(inputs))[1]
        )
    cascade.values(TEXTS)
    by = by_hand(cascade_folder)[1]
    assert counts == [60, 60 - by.count(0), by.count(2)]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"version": 2}, "version"),
        ({"steps": []}, "steps"),
        ({"steps": plan()["steps"][:1]}, "steps"),
        ({"steps": plan()["steps"] * 10}, "steps"),
        ({"steps": plan()["steps"][:2] * 2}, "names a folder twice"),
        ({"steps": "model-0"}, "steps"),
        ({"keep": 2}, "keep"),
        ({"evil": 1}, "unknown key"),
    ],
)
def test_invalid_cascade_plan_is_rejected(cascade_folder, tmp_path, change, line):
    folder = copied(cascade_folder, tmp_path)
    write_json(folder / CASCADE, plan(**change))
    assert_rejected(folder, line)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("folder", ".."),
        ("folder", "."),
        ("folder", ""),
        ("folder", "/etc"),
        ("folder", "../made/model-0"),
        ("folder", "model-0/../../x"),
        ("folder", "gone"),
        ("folder", "a" * 300),
        ("folder", "a\x00b"),
        ("folder", 7),
        ("threshold", -0.1),
        ("threshold", 1.5),
        ("threshold", None),
        ("temperature", 0),
        ("temperature", -1),
        ("temperature", 1e300),
        ("temperature", "hot"),
    ],
)
def test_invalid_cascade_step_is_rejected(cascade_folder, tmp_path, key, value):
    folder = copied(cascade_folder, tmp_path)
    content = plan()
    content["steps"][1][key] = value
    write_json(folder / CASCADE, content)
    assert_rejected(folder, CASCADE)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("key", ["threshold", "temperature"])
def test_nan_in_a_cascade_plan_is_rejected(cascade_folder, tmp_path, key, value):
    folder = copied(cascade_folder, tmp_path)
    content = plan()
    content["steps"][0][key] = value
    (folder / CASCADE).write_text(json.dumps(content))
    assert_rejected(folder, "is not JSON")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"version": 1, "version": 1}', "[" * 100_000, "1" * 2_000_000])
def test_invalid_cascade_file_is_rejected(cascade_folder, tmp_path, text):
    folder = copied(cascade_folder, tmp_path)
    (folder / CASCADE).write_text(text)
    assert_rejected(folder, CASCADE)


def test_links_and_nested_cascades_are_rejected(cascade_folder, tmp_path):
    folder = copied(cascade_folder, tmp_path)
    outside = tmp_path / "outside"
    shutil.move(folder / "model-1", outside)
    (folder / "model-1").symlink_to(outside)
    assert_rejected(folder, "leads out")
    (folder / "model-1").unlink()
    (folder / "model-1").symlink_to(".")  # the cascade itself: without end
    assert_rejected(folder, "is a cascade")
    (folder / "model-1").unlink()
    (folder / "model-1").symlink_to("model-1")
    assert_rejected(folder, "leads nowhere")
    (folder / "model-1").unlink()
    assert_rejected(folder, "which does not exist")
    (folder / CASCADE).unlink()
    (tmp_path / "plan").write_text(json.dumps(plan()))
    (folder / CASCADE).symlink_to(tmp_path / "plan")
    assert_rejected(folder, "leads out of its folder")


def test_changed_file_is_rejected(cascade_folder, tmp_path):
    shutil.copytree(cascade_folder, tmp_path / "copy")
    weights = tmp_path / "copy" / "model-1" / "model.safetensors"
    data = bytearray(weights.read_bytes())
    data[-5] ^= 1
    weights.write_bytes(data)
    assert_rejected(tmp_path / "copy", "is not what was saved")


def test_incompatible_models_are_rejected(cascade_folder, tmp_path):
    folder = copied(cascade_folder, tmp_path)
    shutil.rmtree(folder / "model-1")
    saved(tiny.model("bert", layers=1, labels=["good", "bad"]), folder / "model-1")
    assert_rejected(folder, "all must have the same")
    shutil.rmtree(folder / "model-1")
    saved(model_of("tags"), folder / "model-1")
    assert_rejected(folder, "has the answer type tags,")
    assert_rejected(folder, "all must have the same")
    check_compatible([("a", Predictor(cascade_folder / "model-0")), ("b", Predictor(cascade_folder / "model-2"))])

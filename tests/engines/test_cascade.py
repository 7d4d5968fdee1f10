"""A cascade answers like its first confident model and is used like one model; invalid folders are rejected."""

import json
import math
import shutil

import numpy as np
import pytest

import tiny
from engines.kinds import INPUTS, ROWS, model_of, saved, sense_inventory
from niwaki import api
from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType
from niwaki.answers._capabilities import HasConfidence
from niwaki.answers._sense_inventory import SenseInventory
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


# ── every kind of answer ────────────────────────────────────────────────────────────────────────────────────────────

DOUBTING = sorted(set(ANSWERS.names()) - {"number", "embedding"})
INPUTS_BY_TYPE = {**INPUTS, "text": ROWS}


@pytest.fixture(scope="module", params=DOUBTING)
def two(request, tmp_path_factory):
    """Two models of a kind that read different tokens, and the folder that one threshold makes a cascade of."""
    kind = request.param
    folder = tmp_path_factory.mktemp(kind) / "made"
    folder.mkdir()
    for number, family in enumerate(("bert", "roberta")):
        saved(model_of(kind, family, seed=number), folder / f"model-{number}")
    return kind, folder, [Predictor(folder / f"model-{number}") for number in range(2)]


def with_threshold(folder, threshold):
    steps = [{"folder": "model-0", "threshold": threshold}, {"folder": "model-1"}]
    write_json(folder / CASCADE, {"version": 1, "steps": steps})
    return Cascade(folder)


def confidence_of(model, inputs):
    rows = model.tokenize(inputs)
    return model.answer_type.confidence(model.logits(rows), rows, inputs, model.labels)


def halfway(confidence):
    """In the widest gap of the middle, so that neither model answers all and no rounding decides."""
    found = np.sort(confidence)
    inner = np.arange(len(found) // 4, 3 * len(found) // 4)
    place = inner[np.diff(found)[inner].argmax()]
    return float(found[place : place + 2].mean())


def test_every_answer_type_is_answered_by_the_first_confident_model(two):
    kind, folder, (first, last) = two
    inputs = INPUTS_BY_TYPE[kind]
    confidence = confidence_of(first, inputs)
    assert ((confidence > 0) & (confidence <= 1)).all() and len(confidence) == len(inputs)
    threshold = halfway(confidence)
    by = np.where(confidence >= threshold, 0, 1)
    cascade = with_threshold(folder, threshold)
    values, numbers = cascade.predict_with_steps(inputs, cascade.tokenize(inputs), bare=True)
    assert numbers.tolist() == by.tolist() and set(by) == {0, 1}
    each = [model.values(inputs) for model in (first, last)]
    assert values == cascade.values(inputs) == [each[number][place] for place, number in enumerate(by)]
    assert values != each[0] and values != each[1]


def test_full_answers_are_those_of_the_confident_model(two):
    kind, folder, models = two
    inputs = [given for given in INPUTS_BY_TYPE[kind] if kind != "roles" or isinstance(given, tuple)]
    threshold = halfway(confidence_of(models[0], inputs))
    by = np.where(confidence_of(models[0], inputs) >= threshold, 0, 1)
    each = [model.predict(inputs) for model in models]
    wanted = [str(each[number][place]) for place, number in enumerate(by)]
    assert [str(one) for one in with_threshold(folder, threshold).predict(inputs)] == wanted


def test_every_answer_type_works_at_thresholds_0_and_1(two):
    """At 0 the first model answers all; at 1 the last, but for what the first has no doubt of: words with one sense."""
    kind, folder, models = two
    inputs = INPUTS_BY_TYPE[kind]
    assert with_threshold(folder, 0.0).values(inputs) == models[0].values(inputs)
    certain = confidence_of(models[0], inputs) >= 1
    assert kind == "senses" or not certain.any()
    wanted = [models[0 if sure else 1].values([given])[0] for given, sure in zip(inputs, certain, strict=True)]
    assert with_threshold(folder, 1.0).values(inputs) == wanted


def test_second_pass_goes_through_the_cascade(tmp_path):
    """Of a plain sentence predicates are found by whom was sure of them, and roles by whom is sure of these."""
    for number, family in enumerate(("bert", "roberta")):
        saved(model_of("roles", family, seed=number), tmp_path / f"model-{number}")
    plain = [words for words in INPUTS["roles"] if not isinstance(words, tuple)]
    cascade = with_threshold(tmp_path, halfway(confidence_of(Predictor(tmp_path / "model-0"), plain)))
    whole = cascade.predict(plain)
    found = [(one.words, frame["predicate"]) for one in whole for frame in one.frames]
    alone = cascade.predict(found)
    assert [f["roleset"] for one in whole for f in one.frames] == [one.frames[0]["roleset"] for one in alone]
    numbers = cascade.predict_with_steps(found, cascade.tokenize(found))[1]
    assert set(numbers) == {0, 1} and len(found) > 20
    each = [model.predict(found) for model in cascade.models]
    assert [str(one) for one in alone] == [str(each[number][place]) for place, number in enumerate(numbers)]


def test_answer_type_without_confidence_is_rejected(tmp_path):
    for number in range(2):
        saved(model_of("number", seed=number), tmp_path / f"model-{number}")
    write_json(tmp_path / CASCADE, {"version": 1, "steps": [{"folder": "model-0"}, {"folder": "model-1"}]})
    assert_rejected(tmp_path, "its answer type number has no confidence")
    assert {name for name in ANSWERS.names() if not issubclass(ANSWERS.load(name, AnswerType), HasConfidence)} == {
        "number",
        "embedding",
    }


def test_temperature_is_rejected_for_other_than_single_choice(two):
    kind, folder, _ = two
    with_threshold(folder, 0.5)
    steps = [{"folder": "model-0", "temperature": 2.0}, {"folder": "model-1"}]
    write_json(folder / CASCADE, {"version": 1, "steps": steps})
    if kind in ("label", "choice"):
        assert len(Cascade(folder).values(INPUTS_BY_TYPE[kind])) == len(INPUTS_BY_TYPE[kind])
    else:
        assert_rejected(folder, "which only models that choose one label have")


def test_multiple_choice_has_no_early_exit(tmp_path):
    """The endings of an input compete, so it is answered when all are through."""
    model = model_of("choice")
    model.network.config.niwaki_exits = [1]
    saved(model, tmp_path / "model-0")
    saved(model_of("choice", seed=1), tmp_path / "model-1")
    steps = [{"folder": "model-0", "layers": 1}, {"folder": "model-0"}, {"folder": "model-1"}]
    write_json(tmp_path / CASCADE, {"version": 1, "steps": steps})
    assert_rejected(tmp_path, "and the model after the last only")
    assert len(with_threshold(tmp_path, 0.5).values(INPUTS["choice"])) == len(INPUTS["choice"])


def test_models_with_another_sense_inventory_are_rejected(tmp_path):
    saved(model_of("senses"), tmp_path / "model-0")
    other = model_of("senses", seed=1)
    fewer = sense_inventory()
    fewer = SenseInventory(fewer.senses.slice(1), fewer.synsets, fewer.forms, fewer.vectors)
    other.sibling_files = fewer.to_files()
    saved(other, tmp_path / "model-1")
    write_json(tmp_path / CASCADE, {"version": 1, "steps": [{"folder": "model-0"}, {"folder": "model-1"}]})
    assert_rejected(tmp_path, "its sense inventory differs from")


def assert_rejected(folder, line):
    with pytest.raises(InputError) as caught:
        api.load(folder)
    assert line in str(caught.value) and "\n" not in str(caught.value)

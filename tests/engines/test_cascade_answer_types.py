"""Cascades of every answer type: the first confident model answers; types without a confidence are rejected."""

import numpy as np
import pytest

from engines.cascades import assert_rejected
from engines.kinds import GENERATED, INPUTS, ROWS, model_of, saved, sense_inventory
from niwaki.answers import ANSWERS
from niwaki.answers._answer_type import AnswerType
from niwaki.answers._capabilities import HasConfidence
from niwaki.answers._sense_inventory import SenseInventory
from niwaki.core.files import write_json
from niwaki.engines.cascade import CASCADE, Cascade
from niwaki.engines.predictor import Predictor

WITHOUT_CONFIDENCE = {"number", "embedding", "image_embedding", "likelihood", "reconstruction"}
TYPES_WITH_CONFIDENCE = sorted(set(ANSWERS.names()) - WITHOUT_CONFIDENCE)
INPUTS_BY_TYPE = {**INPUTS, **dict.fromkeys(GENERATED, ROWS), "image_caption": INPUTS["image_label"]}


@pytest.fixture(scope="module", params=TYPES_WITH_CONFIDENCE)
def model_pair(request, tmp_path_factory):
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


def test_every_answer_type_is_answered_by_the_first_confident_model(model_pair):
    kind, folder, (first, last) = model_pair
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


def test_full_answers_are_those_of_the_confident_model(model_pair):
    kind, folder, models = model_pair
    inputs = [given for given in INPUTS_BY_TYPE[kind] if kind != "roles" or isinstance(given, tuple)]
    threshold = halfway(confidence_of(models[0], inputs))
    by = np.where(confidence_of(models[0], inputs) >= threshold, 0, 1)
    each = [model.predict(inputs) for model in models]
    wanted = [str(each[number][place]) for place, number in enumerate(by)]
    assert [str(one) for one in with_threshold(folder, threshold).predict(inputs)] == wanted


def test_every_answer_type_works_at_thresholds_0_and_1(model_pair):
    """At 0 the first model answers all; at 1 the last, but for what the first has no doubt of: words with one sense."""
    kind, folder, models = model_pair
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
    types = {name: ANSWERS.load(name, AnswerType) for name in ANSWERS.names()}
    assert {name for name, kind in types.items() if not issubclass(kind, HasConfidence)} == WITHOUT_CONFIDENCE


def test_temperature_is_only_accepted_where_one_label_is_chosen(model_pair):
    kind, folder, _ = model_pair
    with_threshold(folder, 0.5)
    steps = [{"folder": "model-0", "temperature": 2.0}, {"folder": "model-1"}]
    write_json(folder / CASCADE, {"version": 1, "steps": steps})
    if kind in ("label", "image_label", "choice"):
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

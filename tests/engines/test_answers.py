"""All answer types from text to answer, compared with transformers on one text at a time."""

import json

import numpy as np
import pytest

import tiny
from engines.by_hand import BY_HAND, numbers
from engines.kinds import GENERATED, INPUTS, KINDS, ROWS, SENSES, model_of, saved
from niwaki.answers import ANSWERS
from niwaki.core.errors import InputError, UsageError
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.int8 import Int8


@pytest.fixture(scope="module", params=KINDS)
def case(request, tmp_path_factory):
    """A kind, its model and its predictors."""
    kind = request.param
    folder = saved(model_of(kind), tmp_path_factory.mktemp("kinds") / kind)
    return (
        kind,
        model_of(kind),
        {engine: Predictor(folder, engine, threads=2) for engine in ("onnx", "openvino", "torch")},
    )


TOLERANCES = {
    "embedding": 1e-5,
    "image_embedding": 1e-5,
    "number": 1e-3,
    "likelihood": 1e-4,
}  # of values that are numbers


def test_every_answer_type_is_tested():
    """Here; generated texts in tests/run/test_generation.py, verified ones in tests/answers/test_verified.py, reconstructions
    in tests/answers/test_reconstruction.py."""
    assert set(KINDS) == set(INPUTS) == set(ANSWERS.names()) - {*GENERATED, "reconstruction"}


@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_values_match_transformers_decoded_by_hand(case, engine):
    kind, model, predictors = case
    found = predictors[engine].values(INPUTS[kind])
    wanted = [BY_HAND[kind](model, given) for given in INPUTS[kind]]
    if kind in TOLERANCES:
        np.testing.assert_allclose(numbers(found), numbers(wanted), atol=TOLERANCES[kind])
        if kind == "number":
            assert np.std(wanted) > 0.5  # in real units, not in those of the head
    else:
        assert found == wanted
        assert len({json.dumps(value) for value in wanted}) > 1  # not all the same, so that order shows


def test_answers_contain_the_values(case):
    kind, _, predictors = case
    values = predictors["onnx"].predict(INPUTS[kind])
    fields = {
        "embedding": "embedding",
        "image_embedding": "embedding",
        "label": "label",
        "image_label": "label",
        "labels": "labels",
        "number": "value",
        "choice": "choice",
        "tags": "tags",
        "span": "answer",
        "senses": "senses",
    }
    if kind in ("roles", "likelihood"):
        return  # sentences take two passes: see below; the parts of a likelihood: tests/answers/test_likelihood.py
    answers = [getattr(answer, fields[kind]) for answer in values]
    assert ([[one["sense"] for one in senses] for senses in answers] if kind == "senses" else answers) == predictors[
        "onnx"
    ].values(INPUTS[kind])
    for answer, given in zip(values, INPUTS[kind], strict=True):
        assert str(answer) and "\n" not in answer.line()
        if kind in ("label", "image_label"):
            assert sum(answer.probabilities.values()) == pytest.approx(1)
            assert answer.probability == answer.probabilities[answer.label] == max(answer.probabilities.values())
        elif kind == "labels":
            assert [name for name, chance in answer.probabilities.items() if chance >= 0.4] == answer.labels
        elif kind == "choice":
            assert sum(answer.probabilities) == pytest.approx(1) and answer.ending == given[1][answer.choice]
        elif kind == "tags":
            assert answer.words == given and len(answer.tags) == len(answer.probabilities) == len(given)
            assert all(1 / 3 <= chance <= 1 for chance in answer.probabilities)
        elif kind == "senses":
            assert answer.words == given.words and len(answer.senses) == len(given.targets)
            for one, target in zip(answer.senses, given.targets, strict=True):
                assert (one["text"], one["lemma"]) == (target.lemma, target.lemma) and one[
                    "gloss"
                ] == f"a {target.lemma}"
                assert one["candidates"] == SENSES[target.lemma] and 1 / one["candidates"] <= one["probability"] <= 1
        elif kind == "span":
            assert given[1][answer.start : answer.end] == answer.answer != ""


def bare(frame):
    """Without probabilities, which differ in the last digits in other company."""
    arguments = [(one["label"], one["start"], one["end"]) for one in frame["arguments"]]
    assert all(0 < one["probability"] <= 1 for one in [frame, *frame["arguments"]])
    return frame["predicate"], frame["roleset"], arguments


@pytest.mark.parametrize("engine", ["onnx", "torch", "native"])
def test_roles_of_each_predicate_are_found_in_a_second_pass(tmp_path, engine):
    folder = saved(model_of("roles"), tmp_path)
    assert write_program(model_of("roles"), folder) is None
    if engine == "native" and not best():
        pytest.skip("the native engine was not built")
    predictor = Predictor(folder, engine)
    assert predictor.values(INPUTS["roles"]) == Predictor(folder, "torch").values(INPUTS["roles"])
    sentences = [given for given in INPUTS["roles"] if not isinstance(given, tuple)]
    found = predictor.values(sentences)
    predicates = [[at for at, tag in enumerate(tags) if tag == "P"] for tags in found]
    assert sum(map(len, predicates)) > 5  # an untrained model says something at random
    values = predictor.predict(sentences)
    assert [[frame["predicate"] for frame in answer.frames] for answer in values] == predicates
    for words, answer in zip(sentences, values, strict=True):
        for frame in answer.frames:
            (alone,) = predictor.predict([(words, frame["predicate"])])
            assert [bare(one) for one in alone.frames] == [bare(frame)]
            (tags,) = predictor.values([(words, frame["predicate"])])
            assert frame["roleset"].endswith(tags[frame["predicate"]].removeprefix("S-"))


@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_answers_do_not_depend_on_the_batch_or_order(case, engine):
    kind, _, predictors = case
    predictor, inputs = predictors[engine], INPUTS[kind]
    together = predictor.values(inputs)
    order = np.random.default_rng(1).permutation(len(inputs))
    shuffled = predictor.values([inputs[place] for place in order])
    alone = [predictor.values([given])[0] for given in inputs]
    if kind in TOLERANCES:
        np.testing.assert_allclose(numbers(shuffled), numbers([together[place] for place in order]), atol=1e-3)
        np.testing.assert_allclose(numbers(alone), numbers(together), atol=1e-3)
    else:
        assert shuffled == [together[place] for place in order] and alone == together


def test_no_answer_is_given_beyond_the_threshold(tmp_path):
    """Whether an answer is given turns where the threshold passes what none leads by."""
    given = [("was it good", ROWS[0])]
    folder = saved(model_of("span", allow_no_answer=True, threshold=1e6), tmp_path)
    (answer,) = Predictor(folder).predict(given)
    assert answer.answer
    for threshold, wanted in ((-answer.margin + 1e-3, answer.answer), (-answer.margin - 1e-3, "")):
        config = json.loads((folder / "config.json").read_text())
        config["niwaki_answer"]["threshold"] = threshold
        (folder / "config.json").write_text(json.dumps(config))
        (found,) = Predictor(folder).predict(given)
        assert found.answer == wanted and found.margin == pytest.approx(answer.margin)


def test_no_inputs_give_no_answers(case):
    _, _, predictors = case
    for predictor in predictors.values():
        assert predictor.predict([]) == predictor.values([]) == []


WRONG = {
    "label": [3, None, ["a", "b", "c"], {"a": 1}, ("a", 3)],
    "labels": [3, ("a", "b", "c")],
    "embedding": [3, None],
    "image_label": [3, None, ("a", "b")],
    "image_embedding": [3, None, ["a"]],
    "likelihood": [3, None, ("a", 3), ("a", "b", "c")],
    "number": [3.5, ["a", None]],
    "choice": ["a text", ("a", "b"), ("a", ["one"]), ("a", 3), ("a", ["b", 3]), ("a",)],
    "tags": [3, ["a", 3], None],
    "roles": [
        3,
        ["a", 3],
        None,
        (["a", "b"], 2),
        (["a", "b"], -1),
        ("a b", "b"),
        ("a b", True),
        ("a b", 0, 0),
        ("a b",),
    ],
    "span": ["a text", ("a", "b", "c"), ("a", 3), 3],
    "senses": [3, ["a", 3], None, (["a", "b"], ["a"], ["NOUN", "NOUN"]), (["a"], "a", ["NOUN"])],
}


EMPTY = {
    "label": ["", " \n", ("a", " ")],
    "labels": [""],
    "embedding": [" "],
    "image_label": ["", " "],
    "image_embedding": ["\n"],
    "likelihood": ["", ("a", " ")],
    "number": ["\t"],
    "choice": [("", ["a", "b"]), ("a", ["b", " "])],
    "tags": ["", " ", [], ["a", ""]],
    "roles": ["", " ", [], ["a", ""], ("", 0), ([], 0)],
    "span": [("", "a"), ("a", " ")],
    "senses": ["", " ", [], ["a", ""], ([], [], [])],
}


def test_invalid_input_is_rejected(case):
    kind, _, predictors = case
    good = INPUTS[kind][0]
    for given in WRONG[kind]:
        with pytest.raises(UsageError, match=r"^texts\.1: must be (a|the) ") as caught:
            predictors["onnx"].predict([good, given])
        assert type(given).__name__ in str(caught.value) and "\n" not in str(caught.value)
    for given in EMPTY[kind]:
        with pytest.raises(InputError, match=r"^texts\.1: is empty") as caught:
            predictors["onnx"].predict([good, given])
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["tags", "span", "choice"])
def test_several_threads_may_predict_at_once(tmp_path, kind):
    from concurrent.futures import ThreadPoolExecutor

    predictor = Predictor(saved(model_of(kind), tmp_path), threads=2)
    wanted = predictor.values(INPUTS[kind])
    with ThreadPoolExecutor(4) as pool:
        assert all(found == wanted for found in pool.map(lambda _: predictor.values(INPUTS[kind]), range(6)))


def flat(values):
    return [one for some in values for one in some]


def test_senses_of_an_int8_model_agree_between_engines(tmp_path):
    model = model_of("senses")
    before = Predictor(saved(model, tmp_path / "floats"), "torch")
    model.apply_edit(Int8())
    folder = tiny.deployed(model, tmp_path / "int8")
    engines = {engine: Predictor(folder, engine) for engine in ("native", "onnx", "torch")}
    rows = engines["torch"].tokenize(INPUTS["senses"])
    logits = {engine: one.logits(rows) for engine, one in engines.items()}
    for engine in ("native", "onnx"):
        assert np.abs(logits[engine] - logits["torch"]).max() < 0.1 * np.abs(logits["torch"]).max()
    values = {engine: flat(one.values(INPUTS["senses"])) for engine, one in engines.items()}
    floats = flat(before.values(INPUTS["senses"]))
    assert np.mean([a == b for a, b in zip(values["native"], values["torch"], strict=True)]) > 0.95
    assert np.mean([a == b for a, b in zip(values["native"], floats, strict=True)]) > 0.85

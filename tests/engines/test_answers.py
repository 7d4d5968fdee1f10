"""All answer types from text to answer, against transformers run on one text at a time and decoded by hand."""

import json
import shutil

import numpy as np
import pytest
import torch

import tiny
from niwaki.answers import ANSWERS
from niwaki.answers.senses import Senses, Sentence, Target
from niwaki.core.errors import InputError, UsageError
from niwaki.core.files import commit_folder
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import write_program
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.int8 import Int8
from niwaki.models.model import load_folder

from .kinds import INPUTS, KINDS, LONG, ROWS, SENSES, model_of, saved, sense_inventory


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


def test_every_answer_type_is_tested():
    """Here; what is written, in tests/run/test_generation.py."""
    assert set(KINDS) == set(INPUTS) == set(ANSWERS.names()) - {"text"}


# ── by hand: transformers' tokenizer and network, one text at a time ────────────────────────────────────────────────


@torch.no_grad()
def by_transformers(model, *texts, **how):
    """One text, or pair: the encoding, and the network's own outputs for each of its sequences."""
    given = model.tokenizer(*texts, truncation=how.pop("truncation", True), max_length=tiny.POSITIONS, **how)
    rows = given["input_ids"] if isinstance(given["input_ids"][0], list) else [given["input_ids"]]
    types = given["token_type_ids"] if isinstance(given["input_ids"][0], list) else [given["token_type_ids"]]
    return given, [
        model.network(input_ids=torch.tensor([row]), token_type_ids=torch.tensor([kind]))
        for row, kind in zip(rows, types, strict=True)
    ]


def of_text(model, given):
    _, (out,) = by_transformers(model, *([given] if isinstance(given, str) else given))
    return out.logits[0].double().numpy()


def label(model, given):
    return model.labels[of_text(model, given).argmax()]


def labels(model, given):
    chances = 1 / (1 + np.exp(-of_text(model, given)))
    return [name for name, chance in zip(model.labels, chances, strict=True) if chance >= 0.4]


def number(model, given):
    return 30.0 + 12.5 * of_text(model, given)[0]


def choice(model, given):
    beginning, endings = given
    return int(np.argmax([of_text(model, (beginning, ending))[0] for ending in endings]))


def tags(model, words, among=slice(None)):
    """A sentence that fits is read at once; of a longer one, this reads as many words as fit, then the rest."""
    given, (out,) = by_transformers(model, words, is_split_into_words=True)
    first = [given.word_ids().index(word) for word in range(len(words)) if word in given.word_ids()]
    found = [model.labels[among][place] for place in out.logits[0, first][:, among].argmax(dim=1).tolist()]
    return found if len(found) == len(words) else [*found, *tags(model, words[len(found) :], among)]


def roles(model, given):
    """Without a predicate, the better of O and P. With one, its mark is put in by hand and every valid path is walked."""
    if not isinstance(given, tuple):
        return tags(model, given, slice(0, 2))
    words, at = given
    before, own, after = (
        model.tokenizer(some, is_split_into_words=True, add_special_tokens=False)
        for some in (words[:at], [words[at]], words[at + 1 :])
    )
    parts = [["[CLS]"], before.tokens(), ["[SEP]"], own.tokens(), ["[SEP]"], after.tokens(), ["[SEP]"]]
    types = [kind for kind, part in zip([0, 0, 1, 1, 1, 0, 0], parts, strict=True) for _ in part]
    ids = model.tokenizer.convert_tokens_to_ids([token for part in parts for token in part])
    logits = (
        model.network(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits[0].double().detach()
    )
    starts = np.cumsum([0, *map(len, parts)])
    places = [
        starts[place] + encoding.word_ids().index(word)
        for place, encoding in ((1, before), (3, own), (5, after))
        for word in range(max([-1, *encoding.word_ids()]) + 1)
    ]
    senses = {"film": ["S-01"]}.get(words[at], ["S-01", "S-02"])
    allowed = [senses if word == at else ["O", "B-A0", "I-A0"] for word in range(len(words))]
    paths = {"": (0.0, [])}  # by the last tag, the best way to it
    for place, some in zip(places, allowed, strict=True):
        ways = [
            (score + float(logits[place, model.labels.index(tag)]), [*path, tag])
            for last, (score, path) in paths.items()
            for tag in some
            if tag != "I-A0" or last in ("B-A0", "I-A0")
        ]
        paths = {tag: max((way for way in ways if way[1][-1] == tag), default=(-np.inf, [])) for tag in some}
    return max(paths.values())[1]


def span(model, given):
    """Every stretch of at most 6 tokens in every window, one after the other."""
    question, text = given
    found, outs = by_transformers(
        model,
        question,
        text,
        truncation="only_second",
        stride=8,
        return_overflowing_tokens=True,
        return_offsets_mapping=True,
    )
    best = (-np.inf, "")
    for window, out in enumerate(outs):
        places = [place for place, part in enumerate(found.sequence_ids(window)) if part == 1]
        offsets = found["offset_mapping"][window]
        for first in places:
            for last in [place for place in places if first <= place < first + 6]:
                score = float(out.start_logits[0, first] + out.end_logits[0, last])
                best = max(best, (score, text[offsets[first][0] : offsets[last][1]]))
    return best[1]


def senses(model, given):
    """The vectors written out, of which a sense's is 6 numbers of its gloss, a 1 among 45 files, and 3 of how common it is."""
    known = sense_inventory()
    found, (out,) = by_transformers(model, given.words, is_split_into_words=True)
    values = []
    for target in given.targets:
        if target.word not in found.word_ids():  # cut off: what is left is read by itself
            start = max(word for word in found.word_ids() if word is not None) + 1
            rest = [Target(one.word - start, one.lemma, one.pos) for one in given.targets if one.word >= start]
            return [*values, *senses(model, Sentence(given.words[start:], rest))]
        v = out.logits[0, found.word_ids().index(target.word)].double().numpy()
        total = sum(range(1, SENSES[target.lemma] + 1)) + 0.5 * SENSES[target.lemma]
        keys = [f"{target.lemma}%1:0{n}:00::" for n in range(1, SENSES[target.lemma] + 1)]
        scores = []
        for n in range(1, len(keys) + 1):
            place = known.synsets.column("synset").to_pylist().index(f"{target.lemma}{n}-n")
            file = np.eye(45)[place]
            prior = [np.log((n + 0.5) / total), n == 1, 1 / n]
            code = known.vectors.codes[known.vectors.rows[place]] * float(known.vectors.scale[0])
            scores.append(v @ np.concatenate([code, file, prior]))
        values.append(keys[int(np.argmax(scores))])
    return values


def embedding(model, given):
    _, (out,) = by_transformers(model, given)
    mean = out.last_hidden_state[0].double().mean(dim=0)
    return (mean / mean.norm()).tolist()


BY_HAND = {
    "embedding": embedding,
    "label": label,
    "labels": labels,
    "number": number,
    "choice": choice,
    "tags": tags,
    "span": span,
    "senses": senses,
    "roles": roles,
}


@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_values_match_transformers_decoded_by_hand(case, engine):
    kind, model, predictors = case
    found = predictors[engine].values(INPUTS[kind])
    wanted = [BY_HAND[kind](model, given) for given in INPUTS[kind]]
    if kind == "embedding":
        np.testing.assert_allclose(found, wanted, atol=1e-5)
    elif kind == "number":
        np.testing.assert_allclose(found, wanted, atol=1e-3)
        assert np.std(wanted) > 0.5  # in real units, not in those of the head
    else:
        assert found == wanted
        assert len({json.dumps(value) for value in wanted}) > 1  # not all the same, so that order shows


def test_answers_contain_the_values(case):
    kind, _, predictors = case
    values = predictors["onnx"].predict(INPUTS[kind])
    fields = {
        "embedding": "embedding",
        "label": "label",
        "labels": "labels",
        "number": "value",
        "choice": "choice",
        "tags": "tags",
        "span": "answer",
        "senses": "senses",
    }
    if kind == "roles":
        return  # sentences take two passes: see below
    answers = [getattr(answer, fields[kind]) for answer in values]
    assert ([[one["sense"] for one in senses] for senses in answers] if kind == "senses" else answers) == predictors[
        "onnx"
    ].values(INPUTS[kind])
    for answer, given in zip(values, INPUTS[kind], strict=True):
        assert str(answer) and "\n" not in answer.line()
        if kind == "label":
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
def test_second_pass_finds_the_roles_of_each_predicate(tmp_path, engine):
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
    if kind in ("number", "embedding"):
        np.testing.assert_allclose(shuffled, [together[place] for place in order], atol=1e-3)
        np.testing.assert_allclose(alone, together, atol=1e-3)
    else:
        assert shuffled == [together[place] for place in order] and alone == together


def test_long_inputs_are_read_in_windows(tmp_path):
    spans, words = (Predictor(saved(model_of(kind), tmp_path / kind), "torch") for kind in ("span", "tags"))
    rows = spans.tokenize([("the end", LONG), ("the end", ROWS[0])])
    assert len(rows.ids) > 3 and rows.inputs == 2 and rows.ids.lengths.max() <= tiny.POSITIONS
    rows = words.tokenize([LONG.split(), ["film"]])
    assert len(rows.ids) >= 3 and rows.inputs == 2 and rows.ids.lengths.max() <= tiny.POSITIONS


def test_threshold_gives_no_answer(tmp_path):
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


# ── input that is none ──────────────────────────────────────────────────────────────────────────────────────────────

WRONG = {
    "label": [3, None, ["a", "b", "c"], {"a": 1}, ("a", 3)],
    "labels": [3, ("a", "b", "c")],
    "embedding": [3, None],
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
        with pytest.raises(UsageError, match=r"^texts\.1: must be a ") as caught:
            predictors["onnx"].predict([good, given])
        assert type(given).__name__ in str(caught.value) and "\n" not in str(caught.value)
    for given in EMPTY[kind]:
        with pytest.raises(InputError, match=r"^texts\.1: is empty") as caught:
            predictors["onnx"].predict([good, given])
        assert "\n" not in str(caught.value)


# ── configs that niwaki did not write ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("of", "problem", "wanted"),
    [
        ("label", None, "label"),
        ("label", "single_label_classification", "label"),
        ("labels", "multi_label_classification", "labels"),
        ("number", "regression", "number"),
        ("number", None, "number"),
        ("tags", None, "tags"),
        ("span", None, "span"),
    ],
)
def test_config_of_transformers_is_understood(tmp_path, of, problem, wanted):
    model = model_of(of)
    model.network.config.niwaki_answer, model.network.config.problem_type = None, problem
    predictor = Predictor(saved(model, tmp_path), "torch")
    assert type(predictor.answer_type).__module__.rpartition(".")[2] == wanted
    assert len(predictor.predict(INPUTS[of][:3])) == 3
    if wanted == "number":  # logits are the numbers, as transformers reads them
        assert predictor.values(ROWS[:1]) == pytest.approx(of_text(model, ROWS[0]).tolist(), abs=1e-5)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kind": "lable"}, "did you mean 'label'"),
        ({"kind": "labels", "threshold": 3}, "threshold"),
        ({"kind": "labels", "treshold": 0.3}, "unknown key, did you mean 'threshold'"),
        ({"kind": None}, "is not known"),
        ({"kind": "../label"}, "is not known"),
        ({}, "is not known"),
    ],
)
def test_invalid_answer_type_is_rejected(tmp_path, values, words):
    model = tiny.model("bert", layers=1)
    model.network.config.niwaki_answer = values
    with pytest.raises(InputError) as caught:
        Predictor(saved(model, tmp_path))
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["tags", "span", "choice"])
def test_several_threads_may_predict_at_once(tmp_path, kind):
    from concurrent.futures import ThreadPoolExecutor

    predictor = Predictor(saved(model_of(kind), tmp_path), threads=2)
    wanted = predictor.values(INPUTS[kind])
    with ThreadPoolExecutor(4) as pool:
        assert all(found == wanted for found in pool.map(lambda _: predictor.values(INPUTS[kind]), range(6)))


# ── files of answer types ──────────────────────────────────────────────────────────────────────────────────────────


def test_files_of_an_answer_type_are_copied_with_the_model(tmp_path):
    """Saved, loaded, saved again and copied: the answers are the same, and the files too, byte for byte."""
    first = saved(model_of("senses"), tmp_path / "first")
    again = saved(load_folder(first), tmp_path / "again")
    copied = shutil.copytree(again, tmp_path / "copied")
    wanted = Predictor(first).values(INPUTS["senses"])
    assert all(Predictor(folder).values(INPUTS["senses"]) == wanted for folder in (again, copied))
    for name in Senses.required_files({}):
        assert (first / name).read_bytes() == (copied / name).read_bytes()
    student = load_folder(first).clone()
    assert student.sibling_files == load_folder(first).sibling_files != {}


@pytest.mark.parametrize("name", Senses.required_files({}))
def test_missing_or_changed_file_of_an_answer_type_is_named(tmp_path, name):
    with commit_folder(tmp_path / "stage") as folder:
        saved(model_of("senses"), folder / "model")
    home = tmp_path / "stage" / "model"
    content = (home / name).read_bytes()
    (home / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for load in (Predictor, load_folder):
        with pytest.raises(InputError, match=rf"{name}: is not what was saved"):
            load(home)
    (tmp_path / "stage" / "MANIFEST").unlink()
    (home / name).unlink()
    for load in (Predictor, load_folder):
        with pytest.raises(InputError, match=rf"{name}: is missing"):
            load(home)


def flat(values):
    return [one for some in values for one in some]


def test_senses_in_8_bits_in_the_native_engine(tmp_path):
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

"""Every baseline on every answer type; vectors against worked values and transformers."""

import json
import random
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer

import tiny
from niwaki.answers.roles import split
from niwaki.core.errors import InputError
from niwaki.data.ragged import Ragged
from niwaki.evaluate import baseline
from niwaki.evaluate import quality as scoring
from niwaki.evaluate.baseline import BASELINES, ORDER, Baseline, run_baselines
from niwaki.evaluate.baselines import _linear
from niwaki.evaluate.baselines._dense import Dense, combined
from niwaki.evaluate.baselines._linear import LinearModel, choice, cut, items
from niwaki.evaluate.baselines._question_features import OverlapFeatures, QuestionFeatures, word_offsets
from niwaki.evaluate.baselines._vector_tables import Table, of_file, of_model
from niwaki.evaluate.baselines._word_features import shape, word_features
from niwaki.evaluate.baselines.frozen import Encoder, Frozen
from niwaki.evaluate.baselines.majority import Majority
from niwaki.evaluate.baselines.static import Static
from niwaki.evaluate.baselines.tfidf import shared
from niwaki.meter import meter
from niwaki.models.model import load_folder
from niwaki.tasks.choice import Choice
from niwaki.tasks.classification import Classification
from niwaki.tasks.multilabel import Multilabel
from niwaki.tasks.question_answering import QuestionAnswering
from niwaki.tasks.regression import Regression
from niwaki.tasks.roles import Roles
from niwaki.tasks.tagging import Tagging
from niwaki.tasks.translation import Translation

TASKS = {
    "label": Classification,
    "pair": Classification,
    "labels": Multilabel,
    "number": Regression,
    "tags": Tagging,
    "span": QuestionAnswering,
    "span or none": QuestionAnswering,
    "choice": Choice,
    "roles": Roles,
    "text": Translation,
}


def row(kind: str, draw: random.Random) -> dict:
    """A row that words decide."""
    good = draw.random() < 0.6
    tone, other = (tiny.GOOD, tiny.BAD) if good else (tiny.BAD, tiny.GOOD)
    words = [draw.choice(tone), *draw.choices(tiny.PLAIN, k=5)]
    draw.shuffle(words)
    text = " ".join(words)
    if kind == "label":
        return {"text": text, "label": "good" if good else "bad"}
    if kind == "pair":  # whether both texts have the same words: neither text alone says it
        first, other = (draw.choices(tiny.GOOD + tiny.BAD + tiny.PLAIN, k=6) for _ in range(2))
        second = draw.sample(first if good else other, 6)
        return {"text": " ".join(first), "second": " ".join(second), "label": "same" if good else "other"}
    if kind == "labels":
        return {"text": text, "label": ["good"] * good + ["film"] * ("film" in words) + ["bad"] * (not good)}
    if kind == "number":
        second = words[: draw.randint(1, 6)] + draw.choices(tiny.LETTERS, k=3)
        return {"text": text, "second": " ".join(second), "label": len(set(words) & set(second)) / 2 + 0.25}
    if kind == "tags":
        return {"tokens": words, "tags": ["B-tone" if word in tone else "O" for word in words]}
    if kind == "roles":
        at = next(place for place, word in enumerate(words) if word in tone)
        label, start = ("ARG0", at - 1) if at else ("ARG1", at + 1)
        found = {"predicate": 0, "start": start, "end": start + 1, "label": label}
        return {"tokens": words, "predicates": [at], "rolesets": [f"{words[at]}.01"], "args": [found]}
    if kind == "text":
        return {"source": text, "target": " ".join(word.upper() for word in reversed(words))}
    if kind == "choice":
        endings = [draw.choice(tone), draw.choice(other)]  # one good, one bad; the good one is right
        return {"text": text, "endings": [f"it was {ending}" for ending in endings], "label": 0 if good else 1}
    things = draw.sample(["film", "plot", "actor", "scene", "story"], 3)
    values = [draw.choice(tiny.GOOD + tiny.BAD) for _ in things]
    context = " ".join(f"the {thing} was {how} ." for thing, how in zip(things, values, strict=True))
    chosen = draw.randrange(3)
    if kind == "span or none" and good:
        return {"question": "how was the sound ?", "context": context, "answers": {"text": [], "answer_start": []}}
    answers = {
        "text": [values[chosen]],
        "answer_start": [context.index(f"{things[chosen]} was") + len(things[chosen]) + 5],
    }
    return {"question": f"how was the {things[chosen]} ?", "context": context, "answers": answers}


@pytest.fixture(scope="session")
def tasks_by_kind(tmp_path_factory):
    """A task of every kind on 300 rows."""
    folder = tmp_path_factory.mktemp("kinds")

    def make(kind: str):
        draw = random.Random(kind)
        path = folder / f"{kind}.jsonl"
        path.write_text("\n".join(json.dumps(row(kind, draw)) for _ in range(300)) + "\n", encoding="utf-8")
        named = {"second": "second"} if kind in ("pair", "number") else {}
        named |= {"text": "source", "target": "target"} if kind == "text" else {}
        return TASKS[kind](path=str(path), max_tokens=48, **named)

    return {kind: make(kind) for kind in TASKS}


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(scoring, "RESAMPLES", 20)


def fitted(candidate: str, task, model: Path, vectors: str = ""):
    return BASELINES.load(candidate, Baseline)(task, model, vectors).fit_if_supported()


def scored(task, answer, part: str = "test") -> float:
    table = task.splits()[part]
    return task.scorer.scores(task.scorer.example_stats(answer(task.inputs(table)), table))[task.metric]


def is_right(task, given, value) -> bool:
    if task.answer == "label":
        return value in task.labels
    if task.answer == "labels":
        return isinstance(value, list) and set(value) <= set(task.labels)
    if task.answer == "number":
        return type(value) is float and np.isfinite(value)
    if task.answer == "roles":
        return len(value) == len(split(given)[0]) and set(value) <= set(task.labels)
    if task.answer == "tags":
        return len(value) == len(given) and set(value) <= set(task.labels)
    if task.answer == "text":
        return isinstance(value, str) and value.isupper()
    if task.answer == "choice":
        return type(value) is int and 0 <= value < len(given[1])
    return value in given[1]


def test_order_contains_every_baseline():
    assert sorted(ORDER) == sorted(BASELINES.names())


@pytest.mark.parametrize("candidate", ORDER)
@pytest.mark.parametrize("kind", TASKS)
def test_every_baseline_supports_an_answer_type_or_is_skipped(tasks_by_kind, bert_folder, kind, candidate):
    task = tasks_by_kind[kind]
    answer = fitted(candidate, task, bert_folder)
    if task.answer in ("span", "roles", "text") and candidate in ("static", "frozen"):
        assert answer is None
        return
    assert answer is not None
    for part in ("validation", "test"):
        inputs = task.inputs(task.splits()[part])
        values = answer(inputs)
        assert len(values) == len(inputs)
        assert all(is_right(task, given, value) for given, value in zip(inputs, values, strict=True))
    some = answer(inputs[:3])  # whatever the other inputs
    assert some == (pytest.approx(values[:3], rel=1e-5) if kind == "number" else values[:3])
    assert answer([]) == []


LEARNT = {
    "label": 0.95,
    "pair": 0.9,
    "labels": 0.95,
    "number": 0.9,
    "tags": 0.95,
    "span": 0.9,
    "span or none": 0.75,
    "choice": 0.95,
    "roles": 0.9,
}


@pytest.mark.parametrize(("kind", "least"), LEARNT.items())
def test_tfidf_solves_a_task_of_words(tasks_by_kind, bert_folder, kind, least):
    assert scored(tasks_by_kind[kind], fitted("tfidf", tasks_by_kind[kind], bert_folder)) >= least


@pytest.fixture(scope="session")
def clear_folder(tmp_path_factory) -> Path:
    """A model whose random layers change the embeddings little, so that words remain separable."""
    folder = tmp_path_factory.mktemp("clear")
    model = tiny.model("bert")
    for layer in model.anatomy.layers:
        for part in ("out", "ffn_out"):
            layer.part(part).weight.data *= 0.02
    model.save(folder)
    return folder


@pytest.mark.parametrize("candidate", ["static", "frozen"])
@pytest.mark.parametrize("kind", ["label", "pair", "labels", "number", "tags", "choice"])
def test_random_vectors_distinguish_words(tasks_by_kind, clear_folder, kind, candidate):
    task = tasks_by_kind[kind]
    least = 0.25 + 0.75 * scored(task, fitted("majority", task, clear_folder))
    assert scored(task, fitted(candidate, task, clear_folder)) > least


def test_majority_class_has_its_share(tasks_by_kind, bert_folder):
    task = tasks_by_kind["label"]
    train, test = (task.gold(task.splits()[part]) for part in ("train", "test"))
    common = Counter(train).most_common(1)[0][0]
    assert scored(task, fitted("majority", task, bert_folder)) == pytest.approx(test.count(common) / len(test))


def test_baselines_are_metered_and_reproducible(tasks_by_kind, encoder_folder, quick):
    first, example_stats = run_baselines(tasks_by_kind["label"], encoder_folder, meter)
    again, same = run_baselines(tasks_by_kind["label"], encoder_folder, meter)
    baselines = first["baselines"]
    assert [candidate["kind"] for candidate in baselines] == list(ORDER)
    assert example_stats.shape[:2] == (4, tasks_by_kind["label"].splits()["test"].num_rows)
    assert [candidate["transformer"] for candidate in baselines] == [False, False, False, True]
    assert first["name"] == max(baselines[:3], key=lambda candidate: candidate["validation"])["name"]
    seconds = [candidate["spent"]["seconds"] for candidate in baselines]
    assert all(second > 0 for second in seconds) and sum(seconds) <= first["spent"]["seconds"]
    for candidate, number in zip(baselines, example_stats, strict=True):
        assert candidate["score"]["value"] == pytest.approx((number[:, 0] == number[:, 1]).mean())
    assert np.array_equal(example_stats, same)
    assert [candidate["score"] for candidate in baselines] == [candidate["score"] for candidate in again["baselines"]]


def test_each_baseline_has_its_own_cost(tasks_by_kind, bert_folder, quick, monkeypatch):
    plain = Majority.fit

    def slow(candidate):
        time.sleep(0.3)
        return plain(candidate)

    monkeypatch.setattr(Majority, "fit", slow)
    monkeypatch.setattr(baseline, "ORDER", ("majority", "tfidf"))
    record, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter)
    seconds = [candidate["spent"]["seconds"] for candidate in record["baselines"]]
    assert 0.3 <= seconds[0] <= record["spent"]["seconds"] - seconds[1]


def test_unsupported_baseline_is_skipped_with_a_reason(tasks_by_kind, bert_folder, quick, monkeypatch):
    values: list[str] = []
    monkeypatch.setattr(baseline, "info", values.append)
    record, example_stats = run_baselines(tasks_by_kind["span"], bert_folder, meter)
    assert [candidate["kind"] for candidate in record["baselines"]] == ["majority", "tfidf"] and len(example_stats) == 2
    assert list(record["skipped"]) == ["static", "frozen"]
    reason = "averaged static vectors + linear model: skipped, an average of word vectors does not contain"
    assert record["skipped"]["static"].startswith(reason) and record["skipped"]["static"] in values


def test_the_chosen_baseline_runs_no_transformer_even_where_the_frozen_encoder_is_better(
    tasks_by_kind, encoder_folder, quick, monkeypatch
):
    task = tasks_by_kind["label"]
    gold = dict(zip(task.inputs(task.splits()["validation"]), task.gold(task.splits()["validation"]), strict=True))
    gold |= dict(zip(task.inputs(task.splits()["test"]), task.gold(task.splits()["test"]), strict=True))
    monkeypatch.setattr(Frozen, "fit", lambda candidate: lambda inputs: [gold[text] for text in inputs])
    monkeypatch.setattr(baseline, "ORDER", ("majority", "frozen"))
    found, _ = run_baselines(task, encoder_folder, meter)
    assert found["baselines"][1]["score"]["value"] == 1.0
    assert found["name"] == found["baselines"][0]["name"] and found["skipped"] == {}


def test_no_baseline_is_built_on_a_model_that_is_already_fine_tuned(tasks_by_kind, bert_folder, tmp_path, quick):
    """`bert_folder` has a task head. Word vectors from elsewhere have not seen the labels."""
    found, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter)
    assert [candidate["kind"] for candidate in found["baselines"]] == ["majority", "tfidf"]
    assert list(found["skipped"]) == ["static", "frozen"]
    assert all(
        "already fine-tuned (its weights hold a task head (classifier." in why for why in found["skipped"].values()
    )
    vectors = write_vectors(tmp_path, "film 1 2\nplot 2 1\n")
    found, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter, str(vectors))
    assert [candidate["kind"] for candidate in found["baselines"]] == ["majority", "tfidf", "static"]


def test_many_rows_are_sampled_with_a_note(tasks_by_kind, bert_folder):
    baselines = [Static(tasks_by_kind["label"], bert_folder) for _ in range(2)]
    for candidate in baselines:
        candidate.max_rows = 50
    drawn = [candidate.train() for candidate in baselines]
    every = tasks_by_kind["label"].splits()["train"]
    assert drawn[0].num_rows == 50 and drawn[0].equals(drawn[1])
    assert baselines[0].note == f"fitted on 50 of the {every.num_rows} train rows"
    assert set(drawn[0].column("text").to_pylist()) <= set(every.column("text").to_pylist())
    assert Static(tasks_by_kind["label"], bert_folder).train().equals(every)


# ── static vectors ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_mean_of_a_table_by_hand():
    table = Table(np.array([[1, 2], [3, 5], [10, 0]], dtype=np.float32), lambda texts: Ragged.of([[0, 1, 1], [], [2]]))
    np.testing.assert_allclose(table.mean(["a", "b", "c"]), [[7 / 3, 4], [0, 0], [10, 0]], rtol=1e-6)


@pytest.mark.parametrize("family", ["bert", "albert", "roberta"])
def test_token_embeddings_are_averaged_without_special_tokens(family):
    """ALBERT's table is narrower than its layers."""
    model = tiny.model(family)
    ids = [model.tokenizer.convert_tokens_to_ids(piece) for piece in ("lovely", "film", "##s")]
    numbers = model.network.get_input_embeddings().weight.detach().numpy()
    found = of_model(model).mean(["lovely films", "lovely " * 100 + "film " * 100])
    np.testing.assert_allclose(found[0], numbers[ids].mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(found[1], numbers[ids[:2]].mean(axis=0), atol=1e-5)  # nothing is cut


def test_word_features_include_the_neighbours(tmp_path):
    path = write_vectors(tmp_path, "a 1 10\nb 2 20\n")
    found = of_file(path, ["a b"]).around([["a", "b"], ["odd"], ["b", "a"]])
    nothing = [0, 0]
    a, b = [1, 10], [2, 20]
    expected = [[*nothing, *a, *b], [*a, *b, *nothing], [*nothing] * 3, [*nothing, *b, *a], [*b, *a, *nothing]]
    np.testing.assert_allclose(found, expected)


def write_vectors(folder: Path, text: str) -> Path:
    path = folder / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("header", ["", "4 2\n"])
def test_word_vectors_are_read_from_a_file(tmp_path, header):
    """Words as written, else in lower case; unknown ones and words with spaces do not count."""
    path = write_vectors(tmp_path, f"{header}film 1 2\nFilm 5 6\n\nvery 3 4\nof a 9 9\n\n")
    table = of_file(path, ["film Film VERY odd of"])
    np.testing.assert_allclose(table.mean(["film very", "Film", "VERY odd", "odd"]), [[2, 3], [5, 6], [3, 4], [0, 0]])
    assert len(table.vectors) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("film 1 2\nplot 1\n", "line 2 has 1 numbers, the first one 2"),
        ("film 1 x\n", r"not a file of word vectors.*\(line 1: could not convert"),
        ("film 1 2\nplot nan 1\n", "line 2 has a number that is not finite"),
        ("film 1 1e39\n", "line 1 has a number that is not finite"),
        ("film\nplot\n", "line 1 has no numbers"),
        ("film " + "1 " * (1 << 20), "line 1 is longer than 1 MB"),
        ("", "none of the words"),
        ("Haus 1 2\n", "none of the words"),
    ],
)
def test_invalid_vector_file_is_rejected(tmp_path, text, says):
    with pytest.raises(InputError, match=says):
        of_file(write_vectors(tmp_path, text), ["film plot"])
    with pytest.raises(InputError, match="not a file of word vectors"):
        of_file(tmp_path / "none.txt", ["film"])


def test_given_vectors_are_used_and_named(tasks_by_kind, bert_folder, tmp_path, quick):
    """Good and bad words are separable in this file, so that the baseline is right."""
    lines = [
        f"{word} {sign} 0.5" for words, sign in ((tiny.GOOD, 1), (tiny.BAD, -1), (tiny.PLAIN, 0)) for word in words
    ]
    path = write_vectors(tmp_path, "\n".join(lines) + "\n")
    record, _ = run_baselines(tasks_by_kind["label"], bert_folder, meter, vectors=str(path))
    static = record["baselines"][ORDER.index("static")]
    assert static["score"]["value"] == 1 and static["note"] == "vectors of vectors.txt"


# ── the frozen encoder ──────────────────────────────────────────────────────────────────────────────────────────────


def own_states(folder: Path, **given) -> torch.Tensor:
    """(tokens, width): what transformers itself gives for one sequence."""
    encoded = AutoTokenizer.from_pretrained(folder)(**given, return_tensors="pt", truncation=True, max_length=48)
    with torch.no_grad():
        return AutoModel.from_pretrained(folder).eval()(**encoded).last_hidden_state[0], encoded


def test_frozen_vectors_are_the_mean_of_transformers_hidden_states(tasks_by_kind, bert_folder):
    texts = [text for text, _ in tiny.sentences(12)]
    found = Encoder(Frozen(tasks_by_kind["label"], bert_folder), "fp32").texts([*texts, texts[0]])
    expected = [own_states(bert_folder, text=text)[0].mean(dim=0).numpy() for text in [*texts, texts[0]]]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_frozen_word_is_the_state_at_its_first_token(tasks_by_kind, bert_folder):
    sentences = [["lovely", "films", "and", "odd", "ends"], ["dull"]]
    found = Encoder(Frozen(tasks_by_kind["tags"], bert_folder), "fp32").words(sentences)
    expected = []
    for words in sentences:
        states, encoded = own_states(bert_folder, text=words, is_split_into_words=True)
        expected += [states[encoded.word_ids().index(number)].numpy() for number in range(len(words))]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_frozen_encoder_is_not_changed(tasks_by_kind, bert_folder):
    before = load_folder(bert_folder, tasks_by_kind["label"].head).network.state_dict()
    encoder = Encoder(Frozen(tasks_by_kind["label"], bert_folder))
    LinearModel(tasks_by_kind["label"], tasks_by_kind["label"].splits()["train"], [Dense(encoder.texts)])
    body = encoder.model.anatomy.family.body
    after = encoder.model.network.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if name.startswith(body))


def test_the_validation_rows_are_read_once(tasks_by_kind, bert_folder):
    task = tasks_by_kind["label"]
    seen: list[str] = []

    def vectors(texts):
        seen.extend(texts)
        return np.array([[len(text), text.count("o")] for text in texts], dtype=np.float32)

    answer = LinearModel(task, task.splits()["train"], [Dense(vectors)])
    first = task.inputs(task.splits()["validation"])
    read = len(seen)
    assert read == task.splits()["train"].num_rows + len(first)
    answer(first)
    assert len(seen) == read


# ── features and linear models ──────────────────────────────────────────────────────────────────────────────────────


def test_features_of_a_pair_by_hand():
    a, b = np.array([[4.0, 1.0]]), np.array([[1.0, 5.0]])
    found = combined([a, b], np.array([1.0, 1.0]))  # about the centre: (3, 0) and (0, 4), then (1, 0) and (0, 1)
    np.testing.assert_allclose(found, [[1, 0, 0, 1, 1, 1, 0, 0, 0]])
    np.testing.assert_allclose(combined([a], np.array([1.0, 1.0])), a)


def test_dense_features_are_in_standard_units_of_the_train_rows():
    draw = np.random.default_rng(0)
    vectors = {f"text {number}": draw.normal(3, 2, 4) for number in range(50)}
    dense = Dense(lambda texts: np.array([vectors[text] for text in texts]))
    train, rest = list(vectors)[:40], list(vectors)[40:]
    found = dense.fit(train)
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(found.std(axis=0), 1, atol=1e-5)
    of_train = np.array([vectors[text] for text in train])
    expected = (np.array([vectors[text] for text in rest]) - of_train.mean(axis=0)) / of_train.std(axis=0)
    np.testing.assert_allclose(dense.transform(rest), expected, atol=1e-5)


def test_overlap_of_two_texts_by_hand():
    from scipy import sparse

    a, b = sparse.csr_matrix([[0.6, 0.8, 0.0, 0.0]]), sparse.csr_matrix([[0.0, 0.6, 0.0, 0.8]])
    np.testing.assert_allclose(shared(a, b), [[0.48, 1 / 2, 1 / 2, 1 / 3, 0]])
    nothing = sparse.csr_matrix((1, 4))
    np.testing.assert_allclose(shared(a, nothing), [[0, 0, 0, 0, 1]])


def test_every_ending_has_its_own_features():
    assert items([("a", ["x", "y"]), ("b", ["z", "w"])]) == [("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")]
    assert items([("a", "b")]) == [("a", "b")] and items(["a"]) == ["a"] and items([["a", "b"]]) == [["a", "b"]]
    assert cut([1, 2, 3], [2, 0, 1]) == [[1, 2], [], [3]]


def test_a_choice_is_learnt_from_differences():
    """A feature that all endings of a beginning have alike says nothing; the one that differs decides."""
    draw = np.random.default_rng(1)
    inputs = [("", ["", "", ""])] * 40
    gold = draw.integers(0, 3, 40).tolist()
    known = np.repeat(draw.normal(0, 50, (40, 1)), 3, axis=0)
    known = np.concatenate([known, draw.normal(0, 0.1, (120, 1))], axis=1)
    known[np.arange(40) * 3 + gold, 1] += 1
    assert choice(None, known, inputs, gold, 1.0)(known, inputs) == gold


def test_many_labels_are_fitted_in_one_step():
    from sklearn.linear_model import LogisticRegression, RidgeClassifier

    dense = np.zeros((1, 1))
    assert isinstance(_linear.classifier(dense, 1.0, _linear.MANY_LABELS + 1), RidgeClassifier)
    assert isinstance(_linear.classifier(dense, 1.0, _linear.MANY_LABELS), LogisticRegression)


def test_single_label_is_always_predicted(tasks_by_kind):
    task = tasks_by_kind["label"]
    assert _linear.trained(task, np.eye(3), [], ["good"] * 3, 1.0)(np.eye(2), []) == ["good"] * 2


def test_shapes_of_words():
    assert [shape(word) for word in ("Tokyo", "B-52", "eBay", "...", "")] == ["Xx", "X-d", "xXx", ".", ""]
    assert [len(seen) for seen in word_features(["a", "b"])] == [17, 17]
    first, second = word_features(["Big", "apple"])
    assert {"is Big", "word big", "shape Xx", "starts b", "ends ig", "word1 apple", "shape1 x"} <= set(first)
    assert {"word-1 big", "shapes Xx x ", "before big x"} <= set(second)


def test_shares_of_a_question_by_hand():
    words = ["the", "film", "was", "dull", ".", "the", "plot", "was", "fine"]
    found = dict(OverlapFeatures(words, {"plot": 3.0, "was": 1.0}).transform(8))  # at `fine`
    assert found["sentence"] == 1 and found["lead"] == 0 and found["best"] == 1
    assert found["left 3"] == 1 and found["left 10"] == 1.25 and found["right 10"] == 0
    first = dict(OverlapFeatures(words, {"plot": 3.0, "was": 1.0}).transform(0))
    assert first["sentence"] == 0.25 and first["lead"] == -0.75 and first["right 3"] == 0.25


def test_question_word_is_not_part_of_the_overlap():
    """`where` is in the text, and is not a hint at the position of the answer."""
    hints = QuestionFeatures(["a film", "a plot"])
    given = [("where film ?", "where plot"), ("film ?", "where plot")]
    rows = hints.rows(given)
    first, second = (hints.transform(given, rows, np.array([at])) for at in (0, 3))  # what speaks for no answer
    assert (first != second).nnz == 0


def test_rare_words_have_higher_weights():
    hints = QuestionFeatures(["the film", "the plot", "a scene"])
    assert hints.weight("odd") > hints.weight("film") > hints.weight("the") > 0
    assert word_offsets("A film, odd").tolist() == [[0, 1], [2, 6], [6, 7], [8, 11]]
    rows = hints.rows([("how?", "A film"), ("how?", " ")])
    assert rows.ids.lengths.tolist() == [3, 1] and rows.metadata[0].first == 1
    every = hints.transform([("how?", "A film"), ("how?", " ")], rows, np.arange(4))
    some = hints.transform([("how?", "A film"), ("how?", " ")], rows, np.array([1, 3]))
    assert every.shape[0] == 4 and (every[[1, 3]] != some).nnz == 0

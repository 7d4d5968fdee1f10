"""Answers in texts: targets that decode to the answer, losses over the tokens of a window, a threshold settled on rows."""

import numpy as np
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from niwaki.answers.span import Span, Window
from niwaki.core.errors import InputError
from niwaki.models.forward import NO_LABEL
from niwaki.tasks._squad_scores import overlap
from niwaki.tasks.question_answering import QuestionAnswering, tokens_of

from .rows import TOKENIZER, batch, jsonl, only

PADDING = "the actor and the story of a scene. " * 12


def row(number, answerable=True, **other):
    """The answer is given apart by its number; it lies before, between or after what is read in other windows."""
    answer = f"Ünlovely {number}\n日本"
    before = PADDING[: len(PADDING) * (number % 3) // 2]
    context = f"{before}It was {answer} film. {PADDING}"
    answers = {"text": [answer, "other"], "answer_start": [context.index(answer), 0]}
    none = {"text": [], "answer_start": []}
    return {
        "id": str(number),
        "title": f"article {number % 30}",
        "question": f"is it {number}",
        "context": context,
        "answers": answers if answerable else none,
        **other,
    }


def task_on(tmp_path, rows, **settings):
    return QuestionAnswering(path=jsonl(tmp_path / "rows.jsonl", rows), max_tokens=48, stride=12, **settings)


@pytest.fixture(scope="module")
def task(tmp_path_factory):
    return task_on(tmp_path_factory.mktemp("rows"), [row(number) for number in range(60)])


@pytest.fixture(scope="module")
def with_none(tmp_path_factory):
    return task_on(tmp_path_factory.mktemp("rows"), [row(number, answerable=number % 4 > 0) for number in range(60)])


def pointing(features):
    """Logits of a network that has learnt the targets by heart."""
    logits = np.zeros((len(features.rows.ids.values), 2), dtype=np.float32)
    for number, (first, last) in enumerate(features.targets):
        logits[features.rows.ids.starts[number] + first, 0] = 9.0
        logits[features.rows.ids.starts[number] + last, 1] = 9.0
    return logits


def test_targets_point_at_the_tokens_of_the_answer(task):
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    assert len(features) > 2 * table.num_rows
    hits = set()
    for number, (first, last) in enumerate(features.targets.tolist()):
        owner = int(features.rows.input_index[number])
        answer, predicted = task.gold(table)[owner][0], features.rows.ids[number][first : last + 1].tolist()
        if first:
            assert predicted == TOKENIZER.encode(answer, add_special_tokens=False).ids
            hits.add(owner)
        else:
            assert last == 0
            window = features.rows.metadata[number]
            assert answer not in task.inputs(table)[owner][1][window.offsets[0, 0] : window.offsets[-1, 1]]
    assert hits == set(range(table.num_rows))  # every answer is whole in some window


@pytest.mark.parametrize("fixture", ["task", "with_none"])
def test_a_network_that_learnt_the_targets_gives_the_gold_answers(request, fixture):
    task = request.getfixturevalue(fixture)
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    values = task.answer_type.values(pointing(features), features.rows, task.inputs(table), task.labels)
    assert values == [golds[0] if golds else "" for golds in task.gold(table)]
    assert task.scorer.scores(task.scorer.example_stats(values, table)) == {"overlap": 1.0, "exact": 1.0}


def test_whether_there_may_be_no_answer_is_learnt_from_the_train_rows(task, with_none):
    assert task.answer_type == Span(stride=12) and with_none.answer_type == Span(stride=12, allow_no_answer=True)
    features = with_none.features(with_none.splits()["train"], TOKENIZER)
    unanswerable = [not golds for golds in with_none.gold(with_none.splits()["train"])]
    assert features.targets[np.array(unanswerable)[features.rows.input_index]].sum() == 0


@given(text=some.text("abü日😀 \n", min_size=1, max_size=40), draw=some.data())
def test_tokens_of_characters_are_those_that_touch_them(text, draw):
    start = draw.draw(some.integers(0, len(text) - 1))
    end = draw.draw(some.integers(start + 1, len(text)))
    encoding = TOKENIZER.encode(text, add_special_tokens=False)
    window = Window(5, np.array(encoding.offsets).reshape(-1, 2))
    touching = [place for place, (first, last) in enumerate(encoding.offsets) if first < end and last > start]
    inside = encoding.offsets and encoding.offsets[0][0] <= start and end <= encoding.offsets[-1][1]
    expected = (5 + touching[0], 5 + touching[-1]) if inside and touching else (0, 0)
    assert tokens_of(window, start, end) == expected


def test_rows_on_one_article_fall_together(task):
    titles = {name: set(table.column("text").to_pylist()) for name, table in task.splits().items()}
    assert not titles["train"] & titles["test"] and not titles["train"] & titles["validation"]
    assert sum(map(len, titles.values())) == 30


def test_splits_are_shares_of_rows_where_articles_are_unlike(tmp_path):
    rows = [row(n, title="large" if n < 100 else f"small {n}") for n in range(200)]
    test = task_on(tmp_path, rows).splits()["test"].column("text").to_pylist()
    assert len(test) == 30 and "large" not in test  # 15 % of the rows; of 101 articles it would be 15


@pytest.mark.parametrize(
    "answers, predicted, start",
    [
        ({"text": ["film", "plot", "film"], "answer_start": [9, 2, 9]}, ["film", "plot"], 9),
        ({"text": ["film"], "answer_start": [3]}, ["film"], 4),  # a place where it is not
        ({"text": ["film"]}, ["film"], 4),
        ({"text": "film", "answer_start": 9}, ["film"], 9),
        ([{"text": "film", "answer_start": 9}, {"text": "plot", "answer_start": 2}], ["film", "plot"], 9),
        (["plot", "film"], ["plot"[:4], "film"], -1),
        ("film", ["film"], 4),
        ("", [], -1),
        (None, [], -1),
        ([], [], -1),
        ({"text": [""], "answer_start": [0]}, [], -1),
        ({"text": [], "answer_start": []}, [], -1),
    ],
)
def test_forms_of_answers(answers, predicted, start):
    rows = [{"question": "is it", "context": "the film film is", "answers": answers}]
    built = QuestionAnswering(path="x", question="question", context="context", answers="answers").normalized(
        "all", pa.Table.from_pylist(rows)
    )
    assert built.column("answers").to_pylist() == [predicted] and built.column("start").to_pylist() == [start]


@pytest.mark.parametrize("column", ["question", "context"])
@pytest.mark.parametrize("value", [None, "", " \n"])
def test_empty_questions_and_texts_are_rejected(tmp_path, column, value):
    rows = [row(number) for number in range(40)]
    with pytest.raises(InputError, match=rf"empty cells \('{column}' 1\)"):
        task_on(tmp_path, [*rows, row(40, **{column: value})]).splits()


def test_answers_that_are_none_are_rejected(tmp_path):
    rows = [row(number, answers=5) for number in range(40)]
    with pytest.raises(InputError, match="column 'answers' holds int, not answers"):
        task_on(tmp_path, rows, question="question", context="context", answers="answers").splits()


def test_an_answer_that_its_text_lacks_teaches_nothing(tmp_path):
    rows = [row(n) if n % 2 else row(n, answers={"text": ["elsewhere"], "answer_start": [3]}) for n in range(60)]
    task = task_on(tmp_path, rows)
    table = task.splits()["train"]
    features = task.features(table, TOKENIZER)
    lacking = np.array([golds == ["elsewhere"] for golds in task.gold(table)])[features.rows.input_index]
    assert (features.targets[lacking] == NO_LABEL).all() and (features.targets[~lacking] >= 0).all()
    assert not task.answer_type.allow_no_answer
    mixed = batch(features, [int(np.flatnonzero(lacking)[0]), int(np.flatnonzero(~lacking)[0])])
    logits = torch.randn(*mixed.mask.shape, 2, requires_grad=True)
    task.criterion.loss(logits, mixed).backward()
    assert logits.grad[0].abs().sum() == 0 and logits.grad[1].abs().sum() > 0
    alone = batch(features, [int(np.flatnonzero(lacking)[0])])
    assert task.criterion.loss(torch.randn(*alone.mask.shape, 2), alone).item() == 0.0


def test_loss_by_hand():
    logits = torch.zeros(2, 4, 2, requires_grad=True)
    built = only(torch.tensor([[1, 2], [0, 0]]), torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0]]))
    loss = QuestionAnswering(path="x").criterion.loss(logits, built)
    assert loss.item() == pytest.approx((2 * np.log(4) + 2 * np.log(2)) / 4)  # one of four tokens, one of two
    loss.backward()
    assert logits.grad[1, 2:].abs().sum() == 0 and logits.grad[1, :2].abs().min() > 0  # padding pulls at nothing


def test_the_loss_is_the_mean_of_those_of_starts_and_ends():
    """As transformers' heads have it, which know no padding there."""
    logits, targets = torch.randn(3, 9, 2), torch.tensor([[1, 2], [0, 0], [4, 8]])
    both = [torch.nn.functional.cross_entropy(logits[..., side], targets[:, side]) for side in (0, 1)]
    found = QuestionAnswering(path="x").criterion.loss(logits, only(targets, torch.ones(3, 9)))
    assert found.item() == pytest.approx((sum(both) / 2).item(), rel=1e-6)


def test_soft_loss_by_hand():
    teacher = torch.zeros(1, 3, 2)
    teacher[0, 1, 0] = 2 * np.log(3.0)
    teacher[0, 2] = 50.0  # padding, whatever the network says of it
    built = only(torch.tensor([[0, 0]]), torch.tensor([[1, 1, 0]]))
    at_two = 0.75 * np.log(0.75 / 0.5) + 0.25 * np.log(0.25 / 0.5)
    found = QuestionAnswering(path="x").criterion.soft_loss(torch.zeros(1, 3, 2), teacher, built, 2.0)
    assert found.item() == pytest.approx(4 * at_two / 2, rel=1e-4)  # the ends agree


def test_stats_are_exact_match_and_overlap(task):
    table = pa.table({"answers": pa.array([["The good film", "plot"], []], pa.list_(pa.string()))})
    assert task.scorer.example_stats(["good film!", ""], table).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    built = task.scorer.example_stats(["a good plot", "plot"], table)
    assert built.tolist() == [[0.0, pytest.approx(2 / 3)], [0.0, 0.0]]  # 1 of 2 words predicted, 1 of 1 in the gold
    assert task.scorer.scores(built) == {"overlap": pytest.approx(1 / 3), "exact": 0.0}
    assert task.scorer.parse_value(None) == "" and task.scorer.parse_value("x") == "x"


@pytest.mark.parametrize("seed", range(4))
def test_the_tuned_threshold_is_the_best_of_all(with_none, seed):
    table = with_none.splits()["train"]  # more rows than there are for validation
    assert sum(not golds for golds in with_none.gold(table)) > 5
    features = with_none.features(table, TOKENIZER)
    logits = pointing(features) + np.random.default_rng(seed).normal(scale=4, size=(len(features.rows.ids.values), 2))
    logits = logits.astype(np.float32)

    golds, given = with_none.gold(table), (logits, features.rows, with_none.inputs(table), [])
    always = Span(stride=12).answers(*given)

    def score(values):
        return np.mean([overlap(predicted, gold) for predicted, gold in zip(values, golds, strict=True)])

    every = [
        score(["" if -one.margin > threshold else one.answer for one in always])
        for threshold in [-1e9, *(-one.margin for one in always)]
    ]
    tuned = with_none.tuned(logits, features.rows, table)
    assert score(tuned.values(*given)) == pytest.approx(max(every))
    assert max(every) > max(score([""] * len(golds)), score([one.answer for one in always]))  # neither never nor always
    assert tuned.allow_no_answer and tuned.stride == 12
    assert with_none.answer_type.threshold == 0.0  # the task's own stays


def test_where_there_is_always_an_answer_nothing_is_tuned(task):
    table = task.splits()["validation"]
    features = task.features(table, TOKENIZER)
    assert task.tuned(pointing(features), features.rows, table) is task.answer_type

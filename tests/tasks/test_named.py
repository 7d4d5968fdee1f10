"""Named tasks on small files laid out as their sets are: which part is the test, what numbers are called, which columns."""

import json

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tasks.ag_news import AgNews
from niwaki.tasks.glue.cola import Cola
from niwaki.tasks.glue.mnli import Mnli
from niwaki.tasks.glue.stsb import StsB
from niwaki.tasks.squad import Squad
from niwaki.tasks.squad_v2 import SquadV2
from niwaki.tasks.swag import Swag
from niwaki.tasks.wnut17 import Wnut17

from .rows import TEXTS, TOKENIZER, counts, csv, folder

# name: columns of the texts, what the numbers 0, 1, 2 are called (by the sets' own descriptions)
GLUE = {
    "cola": (("sentence",), ["unacceptable", "acceptable"]),
    "sst2": (("sentence",), ["negative", "positive"]),
    "mrpc": (("sentence1", "sentence2"), ["not_equivalent", "equivalent"]),
    "qqp": (("question1", "question2"), ["not_duplicate", "duplicate"]),
    "mnli": (("premise", "hypothesis"), ["entailment", "neutral", "contradiction"]),
    "qnli": (("question", "sentence"), ["entailment", "not_entailment"]),
    "rte": (("sentence1", "sentence2"), ["entailment", "not_entailment"]),
    "wnli": (("sentence1", "sentence2"), ["not_entailment", "entailment"]),
}
METRICS = {"cola": "matthews", "mrpc": "mean", "qqp": "mean", "stsb": "mean"}  # all others: accuracy


def rows(columns, label, start=0, count=60, **more):
    return [
        {
            **{column: f"{TEXTS[(start + n) % 80]} {column} {start + n}" for column in columns},
            "label": label(n),
            "idx": n,
            **more,
        }
        for n in range(count)
    ]


def exams(name):
    return ["validation_matched", "validation_mismatched"] if name == "mnli" else ["validation"]


def write(home, name, label, columns):
    """Train with a column more, as some of the samples have; tests of labels that are hidden."""
    judges = {
        evaluation_splits: rows(columns, label, 100 * (1 + k), 20) for k, evaluation_splits in enumerate(exams(name))
    }
    hidden = {"test": rows(columns, lambda n: -1, 900, 10)}
    return folder(home / name, train=rows(columns, label, origin="official_head"), **judges, **hidden)


@pytest.mark.parametrize("name", GLUE)
@pytest.mark.parametrize("inside", [True, False], ids=["folder of tasks", "its own folder"])
def test_glue_is_cut_and_named_as_its_authors_do(tmp_path, name, inside):
    columns, names = GLUE[name]
    path = write(tmp_path, name, lambda n: n % len(names), columns)
    task = TASKS.load(name, Task)(path=str(tmp_path) if inside else path)
    assert task.labels == names and task.metric == METRICS.get(name, "accuracy")
    assert task.data.tests == (["test", "mismatched"] if name == "mnli" else ["test"])
    made = counts(task)
    assert made["test"] == 20 and made["train"] + made["validation"] == 60 and made["validation"] > 0
    for part, start in zip(task.data.tests, (100, 200), strict=False):
        table = task.splits()[part]
        assert task.gold(table) == [names[n % len(names)] for n in range(20)]
        texts = [tuple(f"{TEXTS[(start + n) % 80]} {column} {start + n}" for column in columns) for n in range(20)]
        assert task.inputs(table) == [pair if len(columns) == 2 else pair[0] for pair in texts]
    features = task.features(task.splits()["test"], TOKENIZER)
    assert features.targets.tolist() == [n % len(names) for n in range(20)]  # the set's own numbers
    assert task.head.labels == names


def test_stsb_is_a_number_from_0_to_5(tmp_path):
    write(tmp_path, "stsb", lambda n: n % 11 / 2 if n >= 0 else -1.0, ("sentence1", "sentence2"))
    task = StsB(path=str(tmp_path))
    assert counts(task)["test"] == 20 and task.gold(task.splits()["test"])[:3] == [0.0, 0.5, 1.0]
    assert task.metric == "mean" and task.labels == ["value"]


def test_numbers_as_text_and_names_are_both_read(tmp_path):
    for part, count in (("train", 60), ("validation", 20)):
        csv(
            tmp_path / "cola" / f"{part}.csv",
            "sentence,label,idx",
            [f"{TEXTS[n]} {n},{n % 2},{n}" for n in range(count)],
        )
    assert Cola(path=str(tmp_path)).gold(Cola(path=str(tmp_path)).splits()["test"])[:2] == [
        "unacceptable",
        "acceptable",
    ]
    named = rows(("sentence",), lambda n: ["unacceptable", "acceptable"][n % 2])
    path = folder(tmp_path / "named", train=named, validation=rows(("sentence",), lambda n: "acceptable", 100, 20))
    assert Cola(path=path).labels == ["unacceptable", "acceptable"]


def test_a_number_that_no_label_has_is_refused(tmp_path):
    write(tmp_path, "cola", lambda n: n % 3, ("sentence",))
    with pytest.raises(InputError, match="column 'label' has numbers over 1, which is the last label"):
        Cola(path=str(tmp_path)).splits()


@pytest.mark.parametrize("there", [["validation"], ["train"]])
def test_a_part_that_is_missing_is_named(tmp_path, there):
    path = folder(tmp_path / "cola", **{part: rows(("sentence",), lambda n: n % 2) for part in there})
    missing = "train" if there == ["validation"] else "validation"
    with pytest.raises(InputError, match=f"has no {missing} rows, which task 'cola' needs"):
        Cola(path=path).splits()


def test_mnli_without_its_second_test_is_refused(tmp_path):
    columns = GLUE["mnli"][0]
    path = folder(
        tmp_path / "mnli", train=rows(columns, lambda n: n % 3), validation_matched=rows(columns, lambda n: 0)
    )
    with pytest.raises(InputError, match="has no validation_mismatched rows"):
        Mnli(path=path).splits()


def test_ag_news_has_a_test_of_its_own_and_validation_is_cut_from_train(tmp_path):
    path = folder(
        tmp_path / "ag_news",
        train=rows(("text",), lambda n: n % 4, count=80),
        test=rows(("text",), lambda n: n % 4, 100, 20),
    )
    task = AgNews(path=path)
    assert task.labels == ["World", "Sports", "Business", "Sci/Tech"]
    assert counts(task)["test"] == 20 and counts(task)["train"] + counts(task)["validation"] == 80
    assert task.gold(task.splits()["test"])[3] == "Sci/Tech"


def test_wnut_has_all_three_parts(tmp_path):
    def sentences(count):
        return [
            {"id": str(n), "tokens": [*TEXTS[n].split()[:2], "x"], "ner_tags": ["B-person", "O", "I-group"]}
            for n in range(count)
        ]

    folder(tmp_path / "wnut17", train=sentences(30), validation=sentences(9), test=sentences(12))
    task = Wnut17(path=str(tmp_path))
    assert counts(task) == {"train": 30, "validation": 9, "test": 12}
    assert task.labels == ["O", "B-person", "I-group"]


def test_swag_is_scored_on_its_validation_rows(tmp_path):
    def scenes(start, count):
        return [
            {
                "idx": n,
                "startphrase": f"{TEXTS[n]} {start}",
                "ending0": "was good",
                "ending1": f"is bad {n}",
                "label": n % 2,
            }
            for n in range(count)
        ]

    folder(tmp_path / "swag_2way", train=scenes(0, 60), validation=scenes(100, 20))
    task = Swag(path=str(tmp_path))
    assert counts(task)["test"] == 20 and counts(task)["train"] + counts(task)["validation"] == 60
    assert task.inputs(task.splits()["test"])[1] == (f"{TEXTS[1]} 100", ["was good", "is bad 1"])


def questions(titles, start=0, none=False):
    made = []
    for number in range(60):
        context = f"{TEXTS[number % 80]} It was in {1900 + start + number}."
        answer = str(1900 + start + number)
        found = {"text": [answer, answer], "answer_start": [context.index(answer)] * 2}
        made.append(
            {
                "id": f"{start + number}",
                "title": titles[number % len(titles)],
                "context": context,
                "question": "when was it?",
                "answers": {"text": [], "answer_start": []} if none and number % 2 else found,
                "answer_start_exact": True,
            }
        )
    # Arrow cannot tell what an empty list holds: the files say it
    kind = pa.struct([("text", pa.list_(pa.string())), ("answer_start", pa.list_(pa.int32()))])
    table = pa.Table.from_pylist(made)
    return table.set_column(
        table.column_names.index("answers"), "answers", pa.array([row["answers"] for row in made], kind)
    ).to_pylist()


TITLES = [f"article {number}" for number in range(20)]


def titles_of(task):
    return {name: set(table.column("text").to_pylist()) for name, table in task.splits().items()}


@pytest.mark.parametrize("kind, home", [(Squad, "squad"), (SquadV2, "squad_v2")])
def test_squad_without_train_rows_is_cut_as_the_article_split_says(tmp_path, kind, home):
    folder(tmp_path / home, validation=questions(TITLES, none=kind is SquadV2))
    split = {"train": TITLES[:14], "eval": TITLES[14:]}
    (tmp_path / "squad").mkdir(exist_ok=True)
    (tmp_path / "squad" / "article_split.json").write_text(
        json.dumps(split), encoding="utf-8"
    )  # 2.0 uses its neighbour's
    task = kind(path=str(tmp_path))
    titles = titles_of(task)
    assert titles["test"] == set(split["eval"]) and titles["train"] | titles["validation"] == set(split["train"])
    assert not titles["train"] & titles["validation"] and counts(task)["test"] == 18
    assert task.answer_type.allow_no_answer == (kind is SquadV2)


def test_squad_without_a_split_is_cut_by_article(tmp_path):
    task = Squad(path=folder(tmp_path / "squad", validation=questions(TITLES)))
    titles = titles_of(task)
    assert sum(map(len, titles.values())) == 20 and all(titles.values())


def test_squad_with_train_rows_is_scored_on_its_development_rows(tmp_path):
    parts = {"train": questions(TITLES), "validation": questions(["another"], 60)}
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad" / "article_split.json").write_text('{"train": [], "eval": ["article 1"]}', encoding="utf-8")
    task = Squad(path=folder(tmp_path / "squad", **parts))
    assert titles_of(task)["test"] == {"another"} and counts(task)["test"] == 60
    assert counts(task)["train"] + counts(task)["validation"] == 60
    table = task.splits()["test"]
    assert task.gold(table)[0] == ["1960"]  # each answer once
    assert table.column("context")[0].as_py()[table.column("start")[0].as_py() :] == "1960."


def test_squad_of_train_rows_alone_is_cut_and_of_test_rows_alone_refused(tmp_path):
    assert all(counts(Squad(path=folder(tmp_path / "squad", train=questions(TITLES)))).values())
    with pytest.raises(InputError, match="has no train or validation rows, which task 'squad' needs"):
        Squad(path=folder(tmp_path / "other", test=questions(TITLES))).splits()


def test_a_named_task_without_a_path_is_of_the_hub():
    assert Cola().data.source == "nyu-mll/glue:cola" and SquadV2().data.source == "rajpurkar/squad_v2"
    assert Cola(path="here").data.source == "here"  # not a folder of tasks

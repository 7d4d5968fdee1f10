"""SQuAD: splits by article."""

import json

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.squad import Squad
from niwaki.tasks.squad_v2 import SquadV2
from tasks.rows import TEXTS, counts, folder


def questions(titles, start=0, none=False):
    built = []
    for number in range(60):
        context = f"{TEXTS[number % 80]} It was in {1900 + start + number}."
        answer = str(1900 + start + number)
        found = {"text": [answer, answer], "answer_start": [context.index(answer)] * 2}
        built.append(
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
    table = pa.Table.from_pylist(built)
    return table.set_column(
        table.column_names.index("answers"), "answers", pa.array([row["answers"] for row in built], kind)
    ).to_pylist()


TITLES = [f"article {number}" for number in range(20)]


def titles_of(task):
    return {name: set(table.column("text").to_pylist()) for name, table in task.splits().items()}


@pytest.mark.parametrize("kind, home", [(Squad, "squad"), (SquadV2, "squad_v2")])
def test_development_rows_are_split_by_the_list_of_articles(tmp_path, kind, home):
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


def test_articles_are_not_divided_between_splits(tmp_path):
    task = Squad(path=folder(tmp_path / "squad", validation=questions(TITLES)))
    titles = titles_of(task)
    assert sum(map(len, titles.values())) == 20 and all(titles.values())


def test_development_rows_are_the_test_split(tmp_path):
    parts = {"train": questions(TITLES), "validation": questions(["another"], 60)}
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad" / "article_split.json").write_text('{"train": [], "eval": ["article 1"]}', encoding="utf-8")
    task = Squad(path=folder(tmp_path / "squad", **parts))
    assert titles_of(task)["test"] == {"another"} and counts(task)["test"] == 60
    assert counts(task)["train"] + counts(task)["validation"] == 60
    table = task.splits()["test"]
    assert task.gold(table)[0] == ["1960"]  # each answer once
    assert table.column("context")[0].as_py()[table.column("start")[0].as_py() :] == "1960."


def test_train_rows_alone_are_split_and_test_rows_alone_rejected(tmp_path):
    assert all(counts(Squad(path=folder(tmp_path / "squad", train=questions(TITLES)))).values())
    with pytest.raises(InputError, match="has no train or validation rows, which task 'squad' needs"):
        Squad(path=folder(tmp_path / "other", test=questions(TITLES))).splits()

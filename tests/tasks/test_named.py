"""Named tasks on small files laid out as their sets are: which part is the test, what numbers are called, which columns."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.ag_news import AgNews
from niwaki.tasks.glue.cola import Cola
from niwaki.tasks.squad_v2 import SquadV2
from niwaki.tasks.swag import Swag
from niwaki.tasks.wnut17 import Wnut17
from tasks.named import rows, write
from tasks.rows import TEXTS, counts, csv, folder


def test_labels_are_read_as_numbers_or_names(tmp_path):
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


def test_unknown_label_number_is_rejected(tmp_path):
    write(tmp_path, "cola", lambda n: n % 3, ("sentence",))
    with pytest.raises(InputError, match="column 'label' has numbers over 1, which is the last label"):
        Cola(path=str(tmp_path)).splits()


@pytest.mark.parametrize("there", [["validation"], ["train"]])
def test_missing_split_is_named(tmp_path, there):
    path = folder(tmp_path / "cola", **{part: rows(("sentence",), lambda n: n % 2) for part in there})
    missing = "train" if there == ["validation"] else "validation"
    with pytest.raises(InputError, match=f"has no {missing} rows, which task 'cola' needs"):
        Cola(path=path).splits()


def test_ag_news_validation_rows_are_taken_from_train(tmp_path):
    path = folder(
        tmp_path / "ag_news",
        train=rows(("text",), lambda n: n % 4, count=80),
        test=rows(("text",), lambda n: n % 4, 100, 20),
    )
    task = AgNews(path=path)
    assert task.labels == ["World", "Sports", "Business", "Sci/Tech"]
    assert counts(task)["test"] == 20 and counts(task)["train"] + counts(task)["validation"] == 80
    assert task.gold(task.splits()["test"])[3] == "Sci/Tech"


def test_wnut_has_three_splits(tmp_path):
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


def test_named_task_without_a_path_comes_from_the_hub():
    assert Cola().data.source == "nyu-mll/glue:cola" and SquadV2().data.source == "rajpurkar/squad_v2"
    assert Cola(path="here").data.source == "here"  # not a folder of tasks

"""The tasks of GLUE on small files in their layout."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.tasks.glue.mnli import Mnli
from niwaki.tasks.glue.stsb import StsB
from tasks.named import rows, write
from tasks.rows import TEXTS, TOKENIZER, counts, folder

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


@pytest.mark.parametrize("name", GLUE)
@pytest.mark.parametrize("inside", [True, False], ids=["folder of tasks", "its own folder"])
def test_splits_and_labels_follow_the_publication(tmp_path, name, inside):
    columns, names = GLUE[name]
    path = write(tmp_path, name, lambda n: n % len(names), columns)
    task = TASKS.load(name, Task)(path=str(tmp_path) if inside else path)
    assert task.labels == names and task.metric == METRICS.get(name, "accuracy")
    assert task.data.tests == (["test", "mismatched"] if name == "mnli" else ["test"])
    built = counts(task)
    assert built["test"] == 20 and built["train"] + built["validation"] == 60 and built["validation"] > 0
    for part, start in zip(task.data.tests, (100, 200), strict=False):
        table = task.splits()[part]
        assert task.gold(table) == [names[n % len(names)] for n in range(20)]
        texts = [tuple(f"{TEXTS[(start + n) % 80]} {column} {start + n}" for column in columns) for n in range(20)]
        assert task.inputs(table) == [pair if len(columns) == 2 else pair[0] for pair in texts]
    features = task.features(task.splits()["test"], TOKENIZER)
    assert features.targets.tolist() == [n % len(names) for n in range(20)]  # the set's own numbers
    assert task.head.labels == names


def test_stsb_predicts_numbers_from_0_to_5(tmp_path):
    write(tmp_path, "stsb", lambda n: n % 11 / 2 if n >= 0 else -1.0, ("sentence1", "sentence2"))
    task = StsB(path=str(tmp_path))
    assert counts(task)["test"] == 20 and task.gold(task.splits()["test"])[:3] == [0.0, 0.5, 1.0]
    assert task.metric == "mean" and task.labels == ["value"]


def test_mnli_without_its_mismatched_set_is_rejected(tmp_path):
    columns = GLUE["mnli"][0]
    path = folder(
        tmp_path / "mnli", train=rows(columns, lambda n: n % 3), validation_matched=rows(columns, lambda n: 0)
    )
    with pytest.raises(InputError, match="has no validation_mismatched rows"):
        Mnli(path=path).splits()


# name: columns of the texts, what the numbers 0, 1, 2 are called (by the sets' own descriptions)

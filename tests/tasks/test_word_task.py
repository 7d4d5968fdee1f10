"""Tasks with a tag for every word."""

import numpy as np
import pyarrow as pa
import pytest

from niwaki.answers.tags import Tags
from niwaki.core.errors import InputError
from niwaki.models.criteria import TokenCrossEntropy
from niwaki.models.forward import NO_LABEL
from niwaki.tasks.tagging import Tagging

from .rows import TOKENIZER, jsonl

ROWS = [{"tokens": ["the", "film", str(n)], "tags": ["O", "B-X", "O"]} for n in range(60)]


@pytest.fixture
def task(tmp_path):
    return Tagging(path=jsonl(tmp_path / "rows.jsonl", ROWS))


def test_lists_of_anything_are_lists_of_texts(task):
    found = task.lists(pa.table({"tags": [[1, 0], [2]]}), "tags")
    assert found.to_pylist() == [["1", "0"], ["2"]]


def test_columns_without_lists_are_rejected(task):
    with pytest.raises(InputError, match="column 'tags' does not hold lists; give jsonl or parquet with a list per"):
        task.lists(pa.table({"tags": ["O O"]}), "tags")


def test_tags_stand_at_first_tokens_and_unknown_ones_are_left_out(task):
    """`zz` is split into two tokens; the tag `I-Y` is in no train row."""
    rows = pa.table({"tokens": [["the", "zz", "film"]], "tags": [["B-X", "O", "I-Y"]]})
    encoded = Tags().encode([["the", "zz", "film"]], TOKENIZER, 16)
    labels = task.labels
    found = task.targets(rows, encoded)
    assert TOKENIZER.encode("zz").tokens == ["[CLS]", "z", "##z", "[SEP]"]
    assert found[0].tolist() == [NO_LABEL, labels.index("B-X"), labels.index("O"), NO_LABEL, NO_LABEL, NO_LABEL]
    assert np.array_equal(found.starts, encoded.ids.starts)


def test_every_window_of_a_long_sentence_has_its_own_tags(task):
    words, tags = ["film", "the"] * 20, ["B-X", "O"] * 20
    encoded = Tags().encode([words], TOKENIZER, 12)
    targets = task.targets(pa.table({"tokens": [words], "tags": [tags]}), encoded)
    numbers = {word: task.labels.index(tag) for word, tag in (("film", "B-X"), ("the", "O"))}
    assert len(encoded.ids) > 1
    for sequence in range(len(encoded.ids)):
        for token, target in zip(encoded.ids[sequence], targets[sequence], strict=True):
            assert target in (NO_LABEL, numbers.get(TOKENIZER.id_to_token(int(token))))
    assert (targets.values != NO_LABEL).sum() >= 40


def test_the_loss_is_over_tokens(task):
    assert isinstance(task.criterion, TokenCrossEntropy)

"""Optional abilities of answer types, and the functions that ask for them."""

import numpy as np
import pytest

from niwaki.answers import ANSWERS
from niwaki.answers import _capabilities as capabilities
from niwaki.answers._answer_type import AnswerType, EncodedInputs
from niwaki.answers._capabilities import confidence_of, load_answer_files
from niwaki.answers.embedding import Embedding
from niwaki.answers.label import Label
from niwaki.answers.text import TARGET, Text
from niwaki.data.ragged import Ragged
from niwaki.tokenization.training import make

WITH_AND_WITHOUT = {  # capability → answer types that have it, and others
    "HasConfidence": (("label", "tags", "span", "text"), ("number", "embedding")),
    "GeneratesTokens": (("text", "reconstruction"), ("label", "tags")),
    "ChoosesOne": (("label", "choice"), ("labels", "number")),
    "ReducesLogits": (("likelihood",), ("label", "text")),
    "NeedsFiles": (("text", "senses"), ("label", "tags")),
    "TwoPass": (("roles",), ("label", "tags")),
}
ROWS = EncodedInputs({"input_ids": Ragged(np.arange(2, dtype=np.int32), np.arange(3))}, np.arange(2), [])


def members(kind):
    return {name for name in vars(kind) if not name.startswith("_")}


def protocols():
    found = {name: value for name, value in vars(capabilities).items() if getattr(value, "_is_protocol", False)}
    return {name: value for name, value in found.items() if value.__module__ == capabilities.__name__}


def test_every_capability_is_listed():
    assert protocols().keys() == WITH_AND_WITHOUT.keys()


@pytest.mark.parametrize("name", WITH_AND_WITHOUT)
def test_answer_types_have_the_capability(name):
    needed = members(protocols()[name])
    assert needed
    for kinds, has in zip(WITH_AND_WITHOUT[name], (True, False), strict=True):
        for kind in kinds:
            assert all(hasattr(ANSWERS.load(kind, AnswerType), part) for part in needed) == has, kind


def test_the_confidence_of_a_label_is_its_probability():
    logits = np.log(np.array([[0.25, 0.75], [0.9, 0.1]], np.float32))
    assert confidence_of(Label(), logits, ROWS, ["a", "b"], ["no", "yes"]) == pytest.approx([0.75, 0.9])


def test_types_without_a_confidence_are_named():
    with pytest.raises(TypeError, match=r"^Embedding has no confidence$"):
        confidence_of(Embedding(), np.zeros((2, 3)), ROWS, ["a", "b"], [])


def test_files_are_read_where_a_type_needs_some(tmp_path):
    label = Label()
    assert load_answer_files(label, tmp_path, ["a"]) is label
    (tmp_path / TARGET).write_bytes(make(["red green"], "words", 40).encode())
    assert load_answer_files(Text(), tmp_path, ["text"]).target.token_to_id("green") is not None

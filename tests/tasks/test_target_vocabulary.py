"""The tokenizer of generated texts: trained on the rows, or that of the start model."""

from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from tokenizers import Tokenizer

from niwaki.answers.text import GRAMMAR, TARGET
from niwaki.core.errors import InputError
from niwaki.models.target_tokenizer import TargetTokenizer
from niwaki.tasks import _target_vocabulary
from niwaki.tasks._target_vocabulary import TargetVocabulary
from niwaki.tokenization.training import make

FOLDER = Path("start")
OF_MODEL = TargetTokenizer(make(["rot gruen"], "words", 40).encode(), {"start": 1, "end": 2}, 20)


def task(grammar: bytes = b"", **settings):
    """The part of a generation task that a vocabulary asks."""
    rows = pa.table({"text": ["red", "green"], "target": ["ROT(X)", "GRUEN(X)"]})
    values = {"beam": 3, "length_penalty": 0.5, "max_new_tokens": 9, "split": "words", "vocab_size": 50, **settings}
    return SimpleNamespace(
        name="colours",
        splits=lambda: {"train": rows},
        texts=lambda part: part.column("text").to_pylist(),
        gold=lambda part: part.column("target").to_pylist(),
        separate_symbols=lambda text: text.replace("(", " ( ").replace(")", " ) "),
        grammar=lambda: grammar,
        answer="text",
        answer_settings={},
        **values,
    )


@pytest.fixture
def start(monkeypatch):
    def use(found: TargetTokenizer | None) -> None:
        monkeypatch.setattr(_target_vocabulary, "load_target_tokenizer", lambda folder: found)

    return use


def test_both_sides_of_the_train_rows_make_the_vocabulary():
    target = Tokenizer.from_str(TargetVocabulary(task()).files[TARGET].decode())
    assert all(target.token_to_id(word) is not None for word in ("red", "green", "ROT", "GRUEN", "(", ")", "X"))
    assert target.token_to_id("ROT(X)") is None


def test_settings_of_the_task_are_those_of_the_answer_type():
    kind = TargetVocabulary(task()).answer_type()
    assert (kind.beam, kind.length_penalty, kind.max_new_tokens, kind.grammar) == (3, 0.5, 9, False)
    assert kind.target.token_to_id("ROT") is not None


def test_a_grammar_is_a_file_of_its_own():
    assert set(TargetVocabulary(task(b"{}")).files) == {TARGET, GRAMMAR}
    assert set(TargetVocabulary(task()).files) == {TARGET}


def test_an_encoder_brings_no_tokenizer(start):
    start(None)
    vocabulary = TargetVocabulary(task())
    vocabulary.use_model(FOLDER)
    assert vocabulary.of_model is None and b"GRUEN" in vocabulary.files[TARGET]


def test_a_start_model_that_generates_brings_its_tokenizer_and_special_tokens(start):
    start(OF_MODEL)
    vocabulary = TargetVocabulary(task())
    vocabulary.use_model(FOLDER)
    kind = vocabulary.answer_type()
    assert vocabulary.files == {TARGET: OF_MODEL.target} and (kind.start, kind.end) == (1, 2)


def test_a_grammar_needs_a_tokenizer_of_its_own(start):
    start(OF_MODEL)
    with pytest.raises(
        InputError, match=r"^task 'colours': its grammar needs a target tokenizer of its own, and start"
    ):
        TargetVocabulary(task(b"{}")).use_model(FOLDER)


def test_more_tokens_than_the_start_model_can_write_are_rejected(start):
    start(OF_MODEL)
    with pytest.raises(InputError, match=r"^data\.max_new_tokens: 21 is more than the 20 tokens that start can write$"):
        TargetVocabulary(task(max_new_tokens=21)).use_model(FOLDER)
    start(TargetTokenizer(OF_MODEL.target, OF_MODEL.special_tokens, None))
    TargetVocabulary(task(max_new_tokens=5000)).use_model(FOLDER)

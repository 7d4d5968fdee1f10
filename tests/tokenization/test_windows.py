"""Sequences of documents: even, within the length, with special tokens, and never across a boundary."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny
from niwaki.core.errors import InputError
from niwaki.tokenization.windows import beginnings, even_parts, special_tokens, windows

TOKENIZER = tiny.tokenizer()
BACKEND = TOKENIZER.backend_tokenizer


@given(st.integers(0, 200), st.integers(1, 30))
def test_parts_are_few_and_differ_by_at_most_one_token(count, room):
    ids = np.arange(count)
    parts = even_parts(ids, room)
    assert len(parts) == -(-count // room)
    assert [token for part in parts for token in part] == ids.tolist()
    lengths = [len(part) for part in parts]
    assert not lengths or (max(lengths) <= room and max(lengths) - min(lengths) <= 1)


def test_sequences_begin_and_end_with_special_tokens_and_stay_in_their_document():
    texts = ["the plot was very dull", "", "good film"]
    (found,) = windows([texts], BACKEND, 5)
    ids, lengths, documents = found
    assert documents.tolist() == [0, 0, 2]
    sequences = [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]
    cls, *plot, sep = TOKENIZER(texts[0])["input_ids"]
    assert sequences == [[cls, *plot[:3], sep], [cls, *plot[3:], sep], TOKENIZER(texts[2])["input_ids"]]


def test_special_tokens_are_those_around_a_text():
    before, after = special_tokens(BACKEND)
    assert before.tolist() == [TOKENIZER.cls_token_id] and after.tolist() == [TOKENIZER.sep_token_id]


def test_a_length_without_room_for_text_is_rejected():
    with pytest.raises(InputError, match="max_tokens: 2 leave no room"):
        next(windows([["good"]], BACKEND, 2))


def test_documents_are_counted_over_all_batches():
    found = list(windows([["good film", ""], [""], ["the plot", "dull"]], BACKEND, 8))
    assert [documents.tolist() for *_, documents in found] == [[0], [3, 4]]


def test_beginnings_are_one_sequence_for_each_text():
    ((ids, lengths, documents),) = beginnings([["the plot was very dull", "", "good film"]], BACKEND, 5)
    sequences = [part.tolist() for part in np.split(ids, np.cumsum(lengths)[:-1])]
    cls, *plot, sep = TOKENIZER("the plot was very dull")["input_ids"]
    assert sequences == [[cls, *plot[:3], sep], [cls, sep], TOKENIZER("good film")["input_ids"]]
    assert documents.tolist() == [0, 1, 2]

"""Sample texts for checks of models."""

import pytest

from niwaki.data.sample_texts import SENTENCES, sample_texts


@pytest.mark.parametrize("count", [1, 10, 480])
def test_as_many_different_texts_as_requested_are_given(count):
    texts = sample_texts(count)
    assert len(set(texts)) == len(texts) == count
    assert all(any(sentence in text for sentence in SENTENCES) for text in texts)

"""Documents to sentences."""

import pyarrow as pa
import pytest

from niwaki.data import sentences
from niwaki.data.sentences import sentence_table, sentences_of


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('He wrote "no." Then he left.', ['He wrote "no."', "Then he left."]),
        ("It cost 3.50 e.g. in May.", ["It cost 3.50 e.g. in May."]),
        ("a dog . A cat .", ["a dog .", "A cat ."]),
        ("title\n\nFirst line\nsecond", ["title", "First line", "second"]),
        ("你好。再见！", ["你好。", "再见！"]),
        ("  ", []),
    ],
)
def test_sentences(text, wanted):
    assert sentences_of(text) == wanted


def test_a_table_numbers_documents(monkeypatch):
    monkeypatch.setattr(sentences, "SLICE", 2)
    documents = pa.chunked_array([["A. B.", "C.", "D. E. F."]])
    found = sentence_table(documents)
    assert found.column("text").to_pylist() == ["A.", "B.", "C.", "D.", "E.", "F."]
    assert found.column("document").to_pylist() == [0, 0, 1, 2, 2, 2]
    assert sentence_table(documents, most=2).column("text").to_pylist() == ["A.", "B."]
    assert sentence_table(pa.chunked_array([[]], pa.string())).num_rows == 0

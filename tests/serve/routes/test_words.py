import pytest

pytest.importorskip("fastapi")


def test_words_are_left_out_one_at_a_time(served):
    """The fake worker gives "good" 0.9 where the text says so, and 0.2 elsewhere."""
    found = served().request("POST", "/v1/words", {"input": "a good  film", "model": "letters"})
    assert found.status == 200 and found.json["answer"]["label"] == "good"
    assert [word["text"] for word in found.json["words"]] == ["a", "good", "film"]
    assert [word["change"] for word in found.json["words"]] == pytest.approx([0, 0.7, 0])
    assert found.json["usage"]["tokens"] > 0


def test_a_text_keeps_its_only_word(served):
    found = served().request("POST", "/v1/words", {"input": ["good", "a b"]})
    assert [word["change"] for word in found.json["words"]] == [None, 0, 0]
    assert [word["side"] for word in found.json["words"]] == [0, 1, 1]


def test_embeddings_are_compared_by_their_cosine(served):
    found = served().request("POST", "/v1/words", {"input": "a b", "model": "vectors"})
    assert [word["change"] for word in found.json["words"]] == pytest.approx([0, 0])


@pytest.mark.parametrize(
    ("body", "word"),
    [({"input": "good"}, "two words"), ({"input": "a " * 5000}, "words"), ({"input": 3}, "input"), ({}, "input")],
)
def test_invalid_requests_are_named(served, body, word):
    found = served().request("POST", "/v1/words", body)
    assert found.status == 422 and word in str(found.json)

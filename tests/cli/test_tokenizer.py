"""`niwaki tokenizer`: trains a tokenizer."""

import json


def test_tokenizer_is_trained_and_not_overwritten(niwaki, tmp_path):
    (tmp_path / "some.txt").write_text("".join(f"word {number} of many words\n" for number in range(60)))
    result = niwaki("tokenizer", tmp_path / "some.txt", "--vocab-size", "270", "--out", tmp_path / "made", "--json")
    value = json.loads(result.out)
    assert value["vocab_size"] == 270 and value["unknown"] == 0 and value["tokens_per_word"] > 1
    assert (tmp_path / "made" / "tokenizer.json").is_file()
    lines = niwaki("tokenizer", tmp_path / "some.txt", "--split", "words", "--out", tmp_path / "two").out.splitlines()
    assert "tokens (words)" in lines[0] and "held back" in lines[1]
    assert niwaki("tokenizer", tmp_path / "some.txt", "--out", tmp_path / "two").code == 3

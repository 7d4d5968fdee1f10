"""Tokenizers of model folders."""

from models.loading import rejected


def test_missing_tokenizer_is_rejected(folder):
    (folder / "tokenizer.json").unlink()
    rejected(folder, "has no tokenizer.json")


def test_damaged_tokenizer_is_rejected(folder):
    (folder / "tokenizer.json").write_text('{"model": ')
    rejected(folder, "tokenizer.json: cannot be read")

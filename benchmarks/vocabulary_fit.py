"""How many words an English vocabulary covers poorly in 59 languages and on English tasks, and vocabularies made for each language.

The limit in `niwaki.tokenization.vocabulary_fit` is chosen by these records.

    python benchmarks/vocabulary_fit.py DATA     # a folder with flores/dev.parquet and the tasks below
"""

import argparse
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from records import append, circumstances
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from niwaki.data.embedded import find_model
from niwaki.models.skeleton import read_config
from niwaki.models.tokenizer_loading import plain_tokenizer
from niwaki.tokenization.vocabulary_fit import MOST_POOR, fit

ENGLISH = {
    "sst2/validation": "sentence",
    "squad/validation": "question",
    "ag_news/test": "text",
    "imdb/test": "text",
    "qqp/validation": "question1",
    "cola/validation": "sentence",
    "mnli/validation_matched": "premise",
    "wnut17/test": "tokens",
    "btc_ner/test": "tokens",
}
TRAINED_ON, VOCABULARY_SIZE, MOST_TEXTS, MAX_CHARACTERS = 500, 8000, 1000, 1000


def train_tokenizer(texts: list[str]) -> Tokenizer:
    """A WordPiece vocabulary trained on few sentences: a lower bound for a vocabulary of the language."""
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = (
        normalizers.BertNormalizer(lowercase=True),
        pre_tokenizers.BertPreTokenizer(),
    )
    tokenizer.train_from_iterator(
        texts, trainers.WordPieceTrainer(vocab_size=VOCABULARY_SIZE, special_tokens=["[UNK]"], show_progress=False)
    )
    return tokenizer


def languages(path: Path, english: Tokenizer) -> dict[str, Any]:
    table = pq.read_table(path)
    found = {}
    for name in table.column_names:
        texts = [text for text in table.column(name).to_pylist() if isinstance(text, str)]
        if len(texts) > TRAINED_ON:
            seen, unseen = texts[:TRAINED_ON], texts[TRAINED_ON:]
            found[name] = {"english": share(english, unseen), "own": share(train_tokenizer(seen), unseen)}
    return found


def tasks(folder: Path, english: Tokenizer) -> dict[str, float]:
    found = {}
    for name, column in ENGLISH.items():
        cells = pq.read_table(folder / f"{name}.parquet", columns=[column]).column(column).to_pylist()[:MOST_TEXTS]
        texts = [" ".join(cell) if isinstance(cell, list) else cell for cell in cells]
        found[name] = share(english, [text[:MAX_CHARACTERS] for text in texts])
    return found


def share(tokenizer: Tokenizer, texts: list[str]) -> float:
    return round(fit(tokenizer, texts).share, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description="shares of poorly covered words")
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    folder = find_model("minilm")
    if folder is None:
        raise SystemExit("the embedded model is not installed")
    english = plain_tokenizer(folder, read_config(folder))
    found = {
        "limit": MOST_POOR,
        "languages": languages(data / "flores" / "dev.parquet", english),
        "english_tasks": tasks(data, english),
    }
    append("vocabulary_fit", {**circumstances(), **found})


if __name__ == "__main__":
    main()

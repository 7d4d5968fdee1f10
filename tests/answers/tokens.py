"""A WordPiece and a byte-level tokenizer, unusual sentences, and random logits."""

import numpy as np
from hypothesis import strategies as some
from tokenizers import Tokenizer, models, pre_tokenizers, processors

import tiny
from niwaki.answers._answer_type import EncodedInputs

INNER = tiny.tokenizer().backend_tokenizer
NO_TOKEN = "\u200b"
WORDS = ["film", "Unlovely", "goods", "x", "Ärger", "日", "😀", NO_TOKEN, "[SEP]", "un" + "ing" * 30]
SENTENCES = some.lists(some.sampled_from(WORDS), min_size=1, max_size=40)


def of_bytes() -> Tokenizer:
    """A byte-level tokenizer like RoBERTa's: a character may be several tokens."""
    marks = ["<s>", "<pad>", "</s>"]
    vocabulary = {piece: number for number, piece in enumerate([*marks, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    built = Tokenizer(models.BPE(vocabulary, []))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    built.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    return built


def noise(rows: EncodedInputs, width: int, seed: int = 0) -> np.ndarray:
    """Logits for every token of all sequences."""
    return np.random.default_rng(seed).normal(size=(len(rows.ids.values), width)).astype(np.float32)


def tokens_of(rows: EncodedInputs, tokenizer: Tokenizer) -> list[list[str]]:
    return [[tokenizer.id_to_token(int(number)) for number in rows.ids[row]] for row in range(len(rows.ids))]

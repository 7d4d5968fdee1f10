"""A tokenizer of bytes, as RoBERTa's is: a character may be several tokens. And what a network might say of tokens."""

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from niwaki.answers._answer_type import EncodedInputs


def of_bytes() -> Tokenizer:
    marks = ["<s>", "<pad>", "</s>"]
    vocabulary = {piece: number for number, piece in enumerate([*marks, *sorted(pre_tokenizers.ByteLevel.alphabet())])}
    made = Tokenizer(models.BPE(vocabulary, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    return made


def noise(rows: EncodedInputs, width: int, seed: int = 0) -> np.ndarray:
    """Logits for every token of all sequences."""
    return np.random.default_rng(seed).normal(size=(len(rows.ids.values), width)).astype(np.float32)


def tokens_of(rows: EncodedInputs, tokenizer: Tokenizer) -> list[list[str]]:
    return [[tokenizer.id_to_token(int(number)) for number in rows.ids[row]] for row in range(len(rows.ids))]

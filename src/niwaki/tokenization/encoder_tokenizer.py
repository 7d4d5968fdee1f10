"""A trained tokenizer for an encoder: with a mask token, and special tokens around a text or a pair of texts."""

import json

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from niwaki.tokenization.training import BOS, EOS

MASK = "[MASK]"


def for_encoder(content: str) -> Tokenizer:
    """`content` is the JSON of `training.make`. The mask token gets the next id."""
    values = json.loads(content)
    vocabulary = values["model"]["vocab"]
    vocabulary[MASK] = len(vocabulary)
    tokenizer = Tokenizer.from_str(json.dumps(values))
    tokenizer.post_processor = TemplateProcessing(
        single=f"{BOS} $A {EOS}",
        pair=f"{BOS} $A {EOS} $B:1 {EOS}:1",
        special_tokens=[(token, vocabulary[token]) for token in (BOS, EOS)],
    )
    return tokenizer

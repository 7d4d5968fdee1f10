"""A trained tokenizer for an encoder-decoder: with a mask token, sentinel tokens, and special tokens around a text."""

import json

from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing

from niwaki.tokenization.encoder_tokenizer import MASK
from niwaki.tokenization.noise_tokens import SENTINEL
from niwaki.tokenization.training import BOS, EOS


def for_text_to_text(content: str, sentinels: int, begins_with_bos: bool) -> Tokenizer:
    """`content` is the JSON of `training.make`. The mask token gets the next id, then come the sentinels."""
    values = json.loads(content)
    vocabulary = values["model"]["vocab"]
    for token in (MASK, *map(SENTINEL.format, range(sentinels))):
        vocabulary[token] = len(vocabulary)
    tokenizer = Tokenizer.from_str(json.dumps(values))
    around = ((BOS, vocabulary[BOS]), (EOS, vocabulary[EOS])) if begins_with_bos else ((EOS, vocabulary[EOS]),)
    form = f"{BOS} $A {EOS}" if begins_with_bos else f"$A {EOS}"
    tokenizer.post_processor = TemplateProcessing(single=form, special_tokens=list(around))
    return tokenizer

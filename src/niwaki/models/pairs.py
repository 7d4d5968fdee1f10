"""Pairs of texts as two sequences each, for heads that compare embeddings of texts (bi-encoders).

The tokenizer of such a model puts special tokens around both texts and gives the second one token type 1, so that a row can be split where the type changes.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from tokenizers import Tokenizer
from tokenizers.processors import TemplateProcessing
from torch import Tensor

from niwaki.tokenization.tokenizing import encode

if TYPE_CHECKING:
    from niwaki.models.anatomy import Anatomy
    from niwaki.tokenization.trimming import PretrainedTokenizer


def reads_token_types(anatomy: "Anatomy") -> bool:
    """Whether the network needs `token_type_ids`: for its embeddings, or to split pairs."""
    return anatomy.family.inputs.uses_token_types or anatomy.head.splits_pairs


def split_pairs(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Inputs (batch, tokens) to those of (2 × batch, tokens): the first texts, then the second ones, all of type 0. A row with one text counts as
    that text twice. Written with gathers and comparisons, which every engine has."""
    ids, mask = inputs["input_ids"], inputs["attention_mask"].long()
    second = mask * inputs["token_type_ids"]
    both, lengths = mask.sum(dim=1, keepdim=True), second.sum(dim=1, keepdim=True)  # (batch, 1)
    first_lengths = both - lengths
    single = (lengths == 0).to(lengths.dtype)
    starts, lengths = first_lengths * (1 - single), lengths + first_lengths * single
    places = torch.arange(ids.shape[1], device=ids.device)[None]  # (1, tokens)
    moved = ids.gather(1, torch.minimum(places + starts, both - 1))  # the second text, moved to the start of its row
    # a skeleton knows no lengths: its operations are counted for two texts of the same length
    longest = -(-ids.shape[1] // 2) if ids.is_meta else torch.maximum(first_lengths, lengths).max()
    found = {
        "input_ids": torch.cat([ids, moved])[:, :longest],
        "attention_mask": torch.cat([places < first_lengths, places < lengths]).long()[:, :longest],
    }
    return {**found, "token_type_ids": torch.zeros_like(found["input_ids"])}


def separate_texts(tokenizer: "PretrainedTokenizer") -> None:
    """Makes a transformers tokenizer encode pairs so. Its class puts its own template in place of that of tokenizer.json when it is loaded."""
    backend = tokenizer.backend_tokenizer
    backend.post_processor = with_separate_texts(backend).post_processor


def with_separate_texts(tokenizer: Tokenizer) -> Tokenizer:
    """A copy of a tokenizer that encodes both texts of a pair as it encodes one text, the second with token type 1."""
    before, behind = _special_tokens(tokenizer)
    templates = [
        [*(f"{name}:{kind}" for name in before), f"${text}:{kind}", *(f"{name}:{kind}" for name in behind)]
        for kind, text in enumerate("AB")
    ]
    copy = Tokenizer.from_str(tokenizer.to_str())
    ids = {name: tokenizer.token_to_id(name) for name in (*before, *behind)}
    template = TemplateProcessing(
        single=templates[0], pair=[*templates[0], *templates[1]], special_tokens=list(ids.items())
    )
    copy.post_processor = template  # ids do not depend on the offsets that a byte-level post-processor trims
    return copy


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[str], list[str]]:
    """Names of the special tokens before and behind a text. Published tokenizers may pad; padding is not part of a text."""
    found = encode(tokenizer, "a")
    tokens = [
        (token, special)
        for token, special, real in zip(found.tokens, found.special_tokens_mask, found.attention_mask, strict=True)
        if real
    ]
    own = [place for place, (_, special) in enumerate(tokens) if not special]
    names = [token for token, _ in tokens]
    return names[: own[0]], names[own[-1] + 1 :]

"""Tiny encoder–decoders as transformers makes and saves them: random weights, a tokenizer with the family's marks."""

from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing

WORDS = ["one", "two", "three", "four", "five", "ONE", "TWO", "THREE", "FOUR", "FIVE"]
CLASSES = {"bart": "BartForConditionalGeneration", "marian": "MarianMTModel", "t5": "T5ForConditionalGeneration"}
SPECIAL_TOKENS = {
    "bart": (["<s>", "<pad>", "</s>", "<unk>"], [], "<s> $A </s>"),
    "marian": (["</s>", "<unk>"], ["<pad>"], "$A </s>"),
    "t5": (["<pad>", "</s>", "<unk>"], [], "$A </s>"),
}  # the first tokens, the last, and the template of a text
SIDES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 40,
}
SHAPES: dict[str, dict[str, Any]] = {
    "bart": SIDES,
    "marian": {**SIDES, "activation_function": "swish", "scale_embedding": True},
    "t5": {
        "d_model": 32,
        "num_layers": 2,
        "num_decoder_layers": 3,
        "num_heads": 4,
        "d_kv": 6,
        "d_ff": 48,
        "relative_attention_num_buckets": 8,
        "relative_attention_max_distance": 12,
    },
}


def tokenizer(family: str, words: list[str] = WORDS) -> Any:
    first, last, form = SPECIAL_TOKENS[family]
    number = {piece: place for place, piece in enumerate([*first, *words, *last])}
    inner = Tokenizer(WordLevel(number, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special_ids = [(mark, number[mark]) for mark in ("<s>", "</s>") if mark in number]
    inner.post_processor = TemplateProcessing(single=form, special_tokens=special_ids)
    start = {"bos_token": "<s>"} if "<s>" in number else {}
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=38, **start
    )


def network(family: str, seed: int = 0, noise: float = 0.3, words: list[str] = WORDS, **changes: Any) -> Any:
    """transformers' own, on CPU, in eval mode; every parameter is random, and so is the bias of the scores."""
    own = tokenizer(family, words)
    pad, end = own.pad_token_id, own.eos_token_id
    special_ids = {
        "pad_token_id": pad,
        "eos_token_id": end,
        "decoder_start_token_id": end if family == "bart" else pad,
        "forced_eos_token_id": None,
    }
    kind = getattr(transformers, CLASSES[family])
    model = kind(kind.config_class(vocab_size=len(own), **{**SHAPES[family], **special_ids, **changes})).eval()
    generator = torch.Generator().manual_seed(seed)
    buffers = [value for name, value in model.named_buffers() if name == "final_logits_bias"]
    with torch.no_grad():
        for value in [*(one for one in model.parameters() if one.requires_grad), *buffers]:  # positions may be waves
            drawn = torch.randn(value.shape, generator=generator)
            value.copy_(noise * drawn if value.ndim > 1 else value + noise * drawn)
    return model


def folder(family: str, path: Path, **changes: Any) -> Path:
    """A checkpoint as a hub has it."""
    words = changes.pop("words", WORDS)
    network(family, words=words, **changes).save_pretrained(path)
    tokenizer(family, words).save_pretrained(path)
    return path

"""Tiny encoder–decoders as transformers makes and saves them: random weights, a tokenizer with the family's marks."""

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing

WORDS = ["one", "two", "three", "four", "five", "ONE", "TWO", "THREE", "FOUR", "FIVE"]
CLASSES = {
    "bart": "BartForConditionalGeneration",
    "mbart": "MBartForConditionalGeneration",
    "marian": "MarianMTModel",
    "t5": "T5ForConditionalGeneration",
    "mt5": "MT5ForConditionalGeneration",
    "flan_t5": "T5ForConditionalGeneration",
}
SPECIAL_TOKENS = {
    "bart": (["<s>", "<pad>", "</s>", "<unk>"], [], "<s> $A </s>"),
    "marian": (["</s>", "<unk>"], ["<pad>"], "$A </s>"),
    **dict.fromkeys(("t5", "mt5", "flan_t5"), (["<pad>", "</s>", "<unk>"], [], "$A </s>")),
    "mbart": (["<s>", "<pad>", "</s>", "<unk>"], ["en_XX"], "$A </s> en_XX"),
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
UNTIED = ("mt5", "flan_t5")  # their output has numbers of its own
SHAPES |= {"mbart": {**SIDES, "scale_embedding": True}, "mt5": SHAPES["t5"]}
SHAPES["flan_t5"] = {**SHAPES["t5"], "feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}


def tokenizer(family: str, words: list[str] = WORDS) -> Any:
    first, last, form = SPECIAL_TOKENS[family]
    number = {piece: place for place, piece in enumerate([*first, *words, *last])}
    inner = Tokenizer(WordLevel(number, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special_ids = [(mark, number[mark]) for mark in ("<s>", "</s>", "en_XX") if mark in number]
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
        "decoder_start_token_id": {"bart": end, "mbart": own.convert_tokens_to_ids("en_XX")}.get(family, pad),
        "forced_eos_token_id": None,
    }
    kind = getattr(transformers, CLASSES[family])
    model = kind(kind.config_class(**{"vocab_size": len(own), **SHAPES[family], **special_ids, **changes})).eval()
    if family in UNTIED:
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    generator = torch.Generator().manual_seed(seed)
    buffers = [value for name, value in model.named_buffers() if name == "final_logits_bias"]
    with torch.no_grad():
        for value in [*(one for one in model.parameters() if one.requires_grad), *buffers]:  # positions may be waves
            drawn = torch.randn(value.shape, generator=generator)
            value.copy_(noise * drawn if value.ndim > 1 else value + noise * drawn)
        if family in UNTIED:  # scores, products of gated blocks and logits are not scaled
            for name, value in model.named_parameters():
                value.mul_({"wo": 0.5, "q": 0.5, "lm_head": 0.2}.get(name.split(".")[-2], 1.0))
    return model


def folder(family: str, path: Path, **changes: Any) -> Path:
    """A checkpoint as a hub has it."""
    words = changes.pop("words", WORDS)
    network(family, words=words, **changes).save_pretrained(path)
    tokenizer(family, words).save_pretrained(path)
    if family in UNTIED:  # transformers 5 says otherwise
        config = json.loads((path / "config.json").read_text())
        config.pop("scale_decoder_outputs", None)
        (path / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    return path

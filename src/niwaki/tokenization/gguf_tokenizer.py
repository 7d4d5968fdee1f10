"""The tokenizer in the metadata of a GGUF file as a tokenizer.json: byte-level BPE with merges ("gpt2"), or SentencePiece BPE with scores ("llama")."""

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.tokenization.patterns import PUBLISHED
from niwaki.tokenization.sentencepiece_file import (
    BPE,
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    SentencePieceModel,
    Token,
)
from niwaki.tokenization.sentencepiece_tokenizer import tokenizer_of
from niwaki.tokenization.tokenizer_rules import MAX_TOKENS

PREFIX = "tokenizer.ggml."
GPT2 = next(pattern for pattern, names in PUBLISHED.items() if names.startswith("GPT-2"))
LLAMA3 = next(pattern for pattern, names in PUBLISHED.items() if "Llama 3" in names)
QWEN2 = next(pattern for pattern, names in PUBLISHED.items() if names == "Qwen 2")
# how texts are split before merging: (each digit by itself, pattern)
SPLITS = {
    "gpt-2": (False, GPT2),
    "smollm": (True, GPT2),
    "llama-bpe": (False, LLAMA3),
    "qwen2": (False, QWEN2),
}
SPECIAL = {"bos_token": "bos", "eos_token": "eos", "unk_token": "unknown", "pad_token": "padding"}


def tokenizer_json(metadata: Json, where: str) -> Json:
    """The content of tokenizer.json."""
    tokens, kinds = _tokens(metadata, where)
    kind = metadata.get(f"{PREFIX}model")
    if kind == "gpt2":
        return _byte_level(metadata, tokens, kinds, where)
    if kind == "llama":
        return _sentencepiece(metadata, tokens, kinds, where)
    raise InputError(
        f"{where}: has a tokenizer of kind {str(kind)[:40]!r}, which is not read; take a file with 'gpt2' or 'llama'"
    )


def special_tokens(metadata: Json, where: str) -> dict[str, str]:
    """Special tokens by their names in transformers."""
    tokens, _ = _tokens(metadata, where)
    found = {name: metadata.get(f"{PREFIX}{key}_token_id") for name, key in SPECIAL.items()}
    if any(number is not None and not _is_id(number, len(tokens)) for number in found.values()):
        raise InputError(f"{where}: names a special token by an id that no token has")
    return {name: tokens[number] for name, number in found.items() if number is not None}


def _is_id(number: object, count: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and 0 <= number < count


def _tokens(metadata: Json, where: str) -> tuple[list[str], list[int]]:
    tokens = metadata.get(f"{PREFIX}tokens")
    if (
        not isinstance(tokens, list)
        or not 0 < len(tokens) <= MAX_TOKENS
        or not all(isinstance(one, str) for one in tokens)
    ):
        raise InputError(f"{where}: has no list of tokens ({PREFIX}tokens)")
    if len(set(tokens)) != len(tokens):
        raise InputError(f"{where}: lists a token twice ({PREFIX}tokens)")
    kinds = metadata.get(f"{PREFIX}token_type", [NORMAL] * len(tokens))
    if not isinstance(kinds, list) or len(kinds) != len(tokens):
        raise InputError(f"{where}: has another number of types than of tokens ({PREFIX}token_type)")
    return tokens, kinds


def _added(tokens: list[str], kinds: list[int]) -> list[Json]:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return [
        {"id": number, "content": text, "special": kind != USER_DEFINED, **flags}
        for number, (text, kind) in enumerate(zip(tokens, kinds, strict=True))
        if kind in (CONTROL, UNKNOWN, USER_DEFINED)
    ]


def _byte_level(metadata: Json, tokens: list[str], kinds: list[int], where: str) -> Json:
    split = metadata.get(f"{PREFIX}pre", "gpt-2")
    if split not in SPLITS:
        raise InputError(
            f"{where}: splits texts as {str(split)[:40]!r}, which is not read; take a file with one of: {', '.join(SPLITS)}"
        )
    merges = metadata.get(f"{PREFIX}merges")
    pairs = [tuple(one.split(" ")) for one in merges] if isinstance(merges, list) else []
    known = set(tokens)
    if not pairs or any(len(pair) != 2 or not {*pair, "".join(pair)} <= known for pair in pairs):
        raise InputError(f"{where}: has a merge that is not of two tokens to one ({PREFIX}merges)")
    digits, pattern = SPLITS[split]
    steps: list[Json] = [{"type": "Digits", "individual_digits": True}] if digits else []
    steps.append({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False})
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": _added(tokens, kinds),
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*steps, byte_level]},
        "post_processor": _template(metadata, tokens, where),
        "decoder": {**byte_level, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {text: number for number, text in enumerate(tokens)},
            "merges": [list(pair) for pair in pairs],
        },
    }


def _template(metadata: Json, tokens: list[str], where: str) -> Json | None:
    """What is put in front of a text."""
    if not metadata.get(f"{PREFIX}add_bos_token"):
        return None
    first = special_tokens(metadata, where).get("bos_token")
    if first is None:
        raise InputError(f"{where}: adds a first token to texts, and names none ({PREFIX}bos_token_id)")
    begin, text = {"SpecialToken": {"id": first, "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 1}}
    ids = {first: {"id": first, "ids": [tokens.index(first)], "tokens": [first]}}
    return {"type": "TemplateProcessing", "single": [begin, text], "pair": [begin, text, second], "special_tokens": ids}


def _sentencepiece(metadata: Json, tokens: list[str], kinds: list[int], where: str) -> Json:
    scores = metadata.get(f"{PREFIX}scores")
    if not isinstance(scores, list) or len(scores) != len(tokens) or UNKNOWN not in kinds:
        raise InputError(f"{where}: has no score for each token, or no token for unknown characters ({PREFIX}scores)")
    listed = [Token(text, float(score), kind) for text, score, kind in zip(tokens, scores, kinds, strict=True)]
    prefix = bool(metadata.get(f"{PREFIX}add_space_prefix", True))
    model = SentencePieceModel(listed, BPE, BYTE in kinds, b"", adds_prefix=prefix, removes_spaces=False)
    template = _template({f"{PREFIX}add_bos_token": True, **metadata}, tokens, where)
    return {**tokenizer_of(model), "added_tokens": _added(tokens, kinds), "post_processor": template}

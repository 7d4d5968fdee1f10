"""tokenizer_config.json and related files, by allow-list: special tokens, case, lengths, and the name of a known class.

transformers reads these files itself, so unknown keys must be rejected, not ignored: `auto_map` names code,
`tokenizer_file` and its like another file, `gguf_file` a format, `chat_template` a program in a template language.
"""

from pathlib import Path

from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.models.config_rules import PROVENANCE, check_not_steering, shown
from niwaki.models.value_rules import Rule, flag, names, one_of, tokenizer_class, whole
from niwaki.tokenization.tokenizer_rules import MAX_ADDED_TOKENS, MAX_BYTES, MAX_ID, MAX_TEXT, MAX_VALUES

SETTINGS, SPECIAL_TOKENS, ADDED = "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"
VOCABULARY = "vocab.json"
SENTENCEPIECE = ("spiece.model", "sentencepiece.bpe.model", "sentencepiece.model", "tokenizer.model", "spm.model")
PAIR = ("source.spm", "target.spm")
VOCABULARIES = ("vocab.txt", VOCABULARY, *SENTENCEPIECE)  # in place of a tokenizer.json
READ = (
    "vocab.txt",
    VOCABULARY,
    "merges.txt",
    "tokenizer.json",
    *SENTENCEPIECE,
    *PAIR,
    SETTINGS,
    SPECIAL_TOKENS,
    ADDED,
)  # if there
NEVER = ("chat_template.jinja", "additional_chat_templates", "chat_template.json")
FIELDS = {"content", "lstrip", "rstrip", "normalized", "single_word", "special", "__type", "id"}


def token(value: object) -> bool:
    """A special token: a text, or a text with matching options."""
    if isinstance(value, dict):
        flags = {key: item for key, item in value.items() if key not in ("content", "__type", "id")}
        return (
            set(value) <= FIELDS
            and isinstance(value.get("content"), str)
            and token(value["content"])
            and all(map(flag, flags.values()))
            and value.get("__type") in (None, "AddedToken")
        )
    return isinstance(value, str) and 1 <= len(value) <= MAX_TEXT


def tokens(value: object) -> bool:
    items = list(value.values()) if isinstance(value, dict) else value
    return isinstance(items, list) and len(items) <= MAX_ADDED_TOKENS and all(map(token, items))


def numbered(value: object) -> bool:
    return tokens(value) and isinstance(value, dict) and all(key.isdigit() and int(key) < MAX_ID for key in value)


def length(value: object) -> bool:
    """Of texts: some files say "no limit" by a number of thirty digits."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 1 <= value < 1e32


SPECIAL_TOKEN_RULES: dict[str, Rule] = {
    **dict.fromkeys(
        ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token", "bos_token", "eos_token"), token
    ),
    **dict.fromkeys(("additional_special_tokens", "extra_special_tokens"), tokens),
}
ALLOWED: dict[str, Rule] = {
    **SPECIAL_TOKEN_RULES,
    "added_tokens_decoder": numbered,
    "tokenizer_class": tokenizer_class,
    "backend": one_of("tokenizers", "custom"),
    "model_max_length": length,
    **dict.fromkeys(("max_length", "max_len", "stride", "pad_to_multiple_of", "pad_token_type_id"), whole(1_000_000)),
    "extra_ids": whole(10_000),
    **dict.fromkeys(("src_lang", "tgt_lang"), token),
    **dict.fromkeys(("padding_side", "truncation_side"), one_of("left", "right")),
    "truncation_strategy": one_of("longest_first", "only_first", "only_second", "do_not_truncate"),
    "errors": one_of("replace", "strict", "ignore"),
    "model_input_names": names,
    "never_split": lambda value: isinstance(value, list) and len(value) <= 1000 and all(map(token, value)),
    **dict.fromkeys(
        (
            "do_lower_case",
            "do_basic_tokenize",
            "strip_accents",
            "tokenize_chinese_chars",
            "clean_up_tokenization_spaces",
            "add_prefix_space",
            "trim_offsets",
            "keep_accents",
            "remove_space",
            "use_fast",
            "legacy",
            "split_special_tokens",
            "is_local",
            "local_files_only",
            "add_bos_token",
            "add_eos_token",
            "split_by_punct",
        ),
        flag,
    ),
}
NO_PARAMETERS = {
    "tokenizer_class",
    "backend",
    "use_fast",
    "is_local",
    "local_files_only",
    "never_split",
    *("max_length", "max_len", "stride", "pad_to_multiple_of", "truncation_strategy"),
}  # of a tokenizer's constructor
NEVER_OPENED = PROVENANCE | {"special_tokens_map_file", "processor_class", "transformers_version"}


def check_folder(folder: Path) -> None:
    """InputError unless every file of the tokenizer lies in the folder and keeps the rules (tokenizer.json has its own)."""
    for name in NEVER:
        if (folder / name).exists():
            raise InputError(
                f"{folder / name}: is a program in a template language, which niwaki never keeps; remove it"
            )
    for name in READ:
        path = file_inside(folder, name)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path}: is larger than {MAX_BYTES >> 20} MB, which no tokenizer's is")
    check_settings(_table(folder / SETTINGS), str(folder / SETTINGS))
    for key, value in _table(folder / SPECIAL_TOKENS).items():
        if value is not None and not SPECIAL_TOKEN_RULES.get(key, lambda _: False)(value):
            raise InputError(f"{folder / SPECIAL_TOKENS}: '{key[:60]}' is {shown(value)}, which is not a special token")
    added = _table(folder / ADDED)
    if len(added) > MAX_ADDED_TOKENS or not all(
        token(text) and whole(MAX_ID)(number) for text, number in added.items()
    ):
        raise InputError(f"{folder / ADDED}: must be a table from at most {MAX_ADDED_TOKENS} texts to their ids")


def check_settings(values: Json, where: str) -> None:
    for key, value in values.items():
        rule = ALLOWED.get(key)
        if rule is None and key not in NEVER_OPENED:
            check_not_steering(key, value, where)
        elif rule is not None and value is not None and not rule(value):
            raise InputError(f"{where}: '{key}' is {shown(value)}, which is not allowed; fix or remove it")


def constructor_settings(folder: Path, only: tuple[str, ...] = ()) -> Json:
    """Parameters of a tokenizer's constructor, or `only` these keys, from the checked files of a folder: special tokens as objects,
    and each token that was added with its id."""
    from tokenizers import AddedToken

    values = {key: value for key, value in _table(folder / SETTINGS).items() if key in ALLOWED and value is not None}
    if only:
        return {key: values[key] for key in only if key in values}
    special_tokens = {key: value for key, value in _table(folder / SPECIAL_TOKENS).items() if value is not None}
    first, second = (special_tokens, values) if "added_tokens_decoder" in values else (values, special_tokens)
    found = {key: _object(value) for key, value in {**first, **second}.items() if key not in NO_PARAMETERS}
    found.pop("added_tokens_decoder", None)
    added = {int(key): _object(value) for key, value in values.get("added_tokens_decoder", {}).items()}
    for text, number in _table(folder / ADDED).items():
        added.setdefault(number, AddedToken(text, normalized=False))
    return {**found, "added_tokens_decoder": added} if added else found


def _object(value: object) -> object:
    """A special token with matching options as the library has it."""
    from tokenizers import AddedToken

    if isinstance(value, list):
        return [_object(item) for item in value]
    if not isinstance(value, dict) or "content" not in value:
        return value
    options = {key: item for key, item in value.items() if key not in ("content", "__type", "id")}
    return AddedToken(value["content"], **options)


def _table(path: Path) -> Json:
    value = strict_json.load(path, 8 << 20, MAX_VALUES // 4) if path.exists() else {}
    if not isinstance(value, dict):
        raise InputError(f"{path}: must be a table, not {type(value).__name__}")
    return value

"""Reads the tokenizer of a folder: through transformers, or only the part that splits texts."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from niwaki.core import strict_json
from niwaki.core.errors import InputError, first_line, is_panic
from niwaki.core.json_types import Json
from niwaki.models.published_tokenizer import published_tokenizer, tokenizer_class
from niwaki.models.tokenizer_settings import PAIR, SENTENCEPIECE, check_folder
from niwaki.models.value_rules import whole
from niwaki.tokenization.tokenizer_rules import MAX_BYTES, MAX_ID, MAX_VALUES, read_text
from niwaki.tokenization.trimming import without_padding

TOKENIZER = "tokenizer.json"
BYTE_LEVEL = VOCABULARY, MERGES = "vocab.json", "merges.txt"  # as GPT-2 was published
FILES = ("vocab.txt", " and ".join(BYTE_LEVEL), *SENTENCEPIECE, " and ".join((*PAIR, VOCABULARY)))


def plain_tokenizer(folder: Path, config: Json) -> Tokenizer:
    """What splits texts, without padding, truncation and transformers' class around it, which takes a second to import."""
    if not (folder / TOKENIZER).is_file():
        return without_padding(load_tokenizer(folder, config).backend_tokenizer)
    check_folder(folder)
    text = read_text(folder / TOKENIZER)
    with damage_of(folder):
        tokenizer = Tokenizer.from_str(text)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def load_tokenizer(folder: Path, config: Json) -> Any:
    """Through transformers, which makes of the files what its class for them says; each was checked before."""
    import transformers

    check_folder(folder)
    if (folder / TOKENIZER).is_file():
        read_text(folder / TOKENIZER)
    elif (found := published_tokenizer(folder, config)) is not None:
        return found
    elif all((folder / name).is_file() for name in BYTE_LEVEL):
        _check_vocabulary(folder / VOCABULARY)
        _check_class(folder, config)
    elif not (folder / "vocab.txt").is_file():
        raise InputError(
            f"{folder}: has no {TOKENIZER}, and no other file of a tokenizer that is read: {', '.join(FILES)}"
        )
    with damage_of(folder):
        return transformers.AutoTokenizer.from_pretrained(
            folder, config=transformers.AutoConfig.for_model(**config), trust_remote_code=False, local_files_only=True
        )


def _check_class(folder: Path, config: Json) -> None:
    """Rejects classes of transformers without a tokenizer that could be saved, such as XLM's."""
    kind = tokenizer_class(folder, config)
    if kind is not None and not hasattr(kind, "backend_tokenizer"):
        raise InputError(
            f"{folder}: {kind.__name__} splits words by code, which no file states; put a {TOKENIZER} with its vocabulary there"
        )


def _check_vocabulary(path: Path) -> None:
    values = strict_json.load(path, MAX_BYTES, MAX_VALUES)
    ids = values.values() if isinstance(values, dict) else [None]
    if not all(whole(MAX_ID)(number) for number in ids):
        raise InputError(f"{path}: must be a table from tokens to their ids")


@contextlib.contextmanager
def damage_of(folder: Path) -> Iterator[None]:
    """A damaged file ends in a bare Exception of the library, or in a panic that is not even one; here in a line of ours."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise InputError(f"{folder / TOKENIZER}: cannot be read ({first_line(error)})") from None

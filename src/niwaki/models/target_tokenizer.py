"""What a model that came to us writing (BART, Marian, T5) writes with: its own tokenizer, its own marks."""

from dataclasses import dataclass
from pathlib import Path

from niwaki.answers._from_config import answer_files_of
from niwaki.answers.text import TARGET
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.config_rules import CONFIG
from niwaki.models.family import family_of
from niwaki.models.model import sibling_files_of
from niwaki.models.published_tokenizer import TARGET as TARGET_MODEL
from niwaki.models.published_tokenizer import is_pair, pair_tokenizer
from niwaki.models.skeleton import read_config
from niwaki.models.tokenizer_loading import TOKENIZER, load_tokenizer
from niwaki.models.tokenizer_settings import check_folder
from niwaki.tokenization.trimming import without_padding


@dataclass(frozen=True)
class TargetTokenizer:
    target: bytes  # the tokenizer
    special_tokens: Json  # fields of the kind of answer: `start`, `end`, `never`
    longest: int | None  # most tokens that can be written; None where any number can


def load_target_tokenizer(folder: Path) -> TargetTokenizer | None:
    """None where what is written is for the task to say."""
    config = read_config(folder)
    decoder = family_of(str(config["model_type"])).decoder
    if decoder is None or not decoder.has_own_tokenizer:
        return None
    if TARGET in answer_files_of(config):
        target = sibling_files_of(folder, config)[TARGET]  # niwaki saved it
    else:
        target = published_target(folder, config)
    return TargetTokenizer(target, *special_tokens_of(config, str(folder / CONFIG)))


def published_target(folder: Path, config: Json) -> bytes:
    """The tokenizer of generated texts, where the model was published with two, else the only one."""
    check_folder(folder)
    one = (folder / TOKENIZER).is_file() or not is_pair(folder)
    whole = load_tokenizer(folder, config) if one else pair_tokenizer(folder, TARGET_MODEL)
    target: str = without_padding(whole.backend_tokenizer).to_str()
    return target.encode()


def special_tokens_of(config: Json, where: str) -> tuple[Json, int | None]:
    """Special tokens from the config, or its family, and the maximum number of positions."""
    from transformers import AutoConfig

    parsed = AutoConfig.for_model(**config)
    found = {name: getattr(parsed, f"{name}_token_id", None) for name in ("decoder_start", "eos", "pad")}
    for name, mark in found.items():
        if not isinstance(mark, int) or not 0 <= mark < parsed.vocab_size:
            raise InputError(
                f"{where}: {name}_token_id is {mark}; a seq2seq model needs one of its {parsed.vocab_size} token ids for it"
            )
    never = [] if found["pad"] == found["eos"] else [found["pad"]]
    special_tokens = {"start": found["decoder_start"], "end": found["eos"], "suppress_tokens": never}
    return special_tokens, getattr(parsed, "max_position_embeddings", None)

"""What a model that came to us writing (BART, Marian, T5) writes with: its own tokenizer, its own marks."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from niwaki.answers._choose import files_of
from niwaki.answers.text import TARGET
from niwaki.core.errors import Refused
from niwaki.models.anatomy import family_of
from niwaki.models.config_rules import CONFIG
from niwaki.models.model import beside_of
from niwaki.models.skeleton import read_config
from niwaki.models.tokenizer_loading import load_tokenizer
from niwaki.models.tokens import plain


@dataclass(frozen=True)
class Pieces:
    target: bytes  # the tokenizer
    marks: dict[str, Any]  # fields of the kind of answer: `start`, `end`, `never`
    longest: int | None  # most tokens that can be written; None where any number can


def own_pieces(folder: Path) -> Pieces | None:
    """None where what is written is for the task to say."""
    config = read_config(folder)
    if not family_of(str(config["model_type"])).own_pieces:
        return None
    if TARGET in files_of(config):
        target = beside_of(folder, config)[TARGET]  # niwaki saved it
    else:
        target = plain(load_tokenizer(folder, config).backend_tokenizer).to_str().encode()
    return Pieces(target, *marks_of(config, str(folder / CONFIG)))


def marks_of(config: dict[str, Any], where: str) -> tuple[dict[str, Any], int | None]:
    """The marks that a config says, or its family's, and the most positions."""
    from transformers import AutoConfig

    said = AutoConfig.for_model(**config)
    found = {name: getattr(said, f"{name}_token_id", None) for name in ("decoder_start", "eos", "pad")}
    for name, mark in found.items():
        if not isinstance(mark, int) or not 0 <= mark < said.vocab_size:
            raise Refused(f"{where}: {name}_token_id is {mark}; a model that writes needs one piece of its {said.vocab_size} for it")  # fmt: skip
    never = [] if found["pad"] == found["eos"] else [found["pad"]]
    marks = {"start": found["decoder_start"], "end": found["eos"], "never": never}
    return marks, getattr(said, "max_position_embeddings", None)

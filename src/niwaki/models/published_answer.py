"""Seq2seq models as they are published: how their outputs are read, which niwaki writes into the models that it saves.

The search is that of generation_config.json, or of a config.json that has the same keys.
"""

from pathlib import Path

from niwaki.answers._answer_type import AnswerType
from niwaki.answers._capabilities import load_answer_files
from niwaki.answers._from_config import answer_type_of
from niwaki.answers.text import TARGET, Text
from niwaki.core import strict_json
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.path_safety import file_inside
from niwaki.models.config_rules import CONFIG, MAX_BYTES
from niwaki.models.family import family_of, is_known

GENERATION_CONFIG = "generation_config.json"
LABEL = "text"
MOST_NEW_TOKENS = 128  # where nothing says how long a text may be


def is_published_seq2seq(config: Json) -> bool:
    """Whether a config is that of a model that was pretrained to generate, and that niwaki has not saved."""
    kind = config.get("model_type")
    decoder = family_of(str(kind)).decoder if is_known(kind) else None
    return decoder is not None and decoder.has_own_tokenizer and not config.get("niwaki_answer")


def with_published_answer(folder: Path, config: Json) -> Json:
    """The config with the answer type of a published seq2seq model; unchanged for any other."""
    if not is_published_seq2seq(config):
        return config
    from niwaki.models.target_tokenizer import special_tokens_of

    special_tokens, longest = special_tokens_of(config, str(folder / CONFIG))
    answer = Text(**special_tokens, **_search(folder, longest or MOST_NEW_TOKENS))
    labels = {"id2label": {"0": LABEL}, "label2id": {LABEL: 0}}
    return {**config, **labels, "num_labels": 1, "niwaki_answer": answer.to_json()}


def _search(folder: Path, longest: int) -> Json:
    path = file_inside(folder, GENERATION_CONFIG)
    values = strict_json.load(path, MAX_BYTES) if path.is_file() else strict_json.load(folder / CONFIG, MAX_BYTES)
    if not isinstance(values, dict):
        raise InputError(f"{path}: must be a table")
    beam, penalty = values.get("num_beams") or 1, values.get("length_penalty")
    first = values.get("forced_bos_token_id")
    most = values.get("max_new_tokens") or values.get("max_length") or longest
    penalty = 1.0 if penalty is None else penalty
    if type(beam) is not int or type(most) is not int or isinstance(penalty, bool | str | list | dict):
        raise InputError(f"{path}: num_beams, max_length and length_penalty must be numbers")
    if first is not None and (type(first) is not int or first < 0):
        raise InputError(f"{path}: forced_bos_token_id must be the id of one token")
    search = {"beam": beam, "length_penalty": penalty, "max_new_tokens": min(most, longest)}
    forced = {} if first is None else {"first": first}
    return {**search, **forced, "renormalize": values.get("renormalize_logits") is True}


def published_files(folder: Path, config: Json) -> dict[str, bytes]:
    """The files of the answer type that niwaki would save, for a folder with a published tokenizer of generated texts in their place."""
    saved = config.get("niwaki_answer") or {}
    if saved.get("kind") != "text" or saved.get("grammar") or file_inside(folder, TARGET).is_file():
        return {}
    decoder = family_of(str(config["model_type"])).decoder
    if decoder is None or not decoder.has_own_tokenizer:
        return {}
    from niwaki.models.target_tokenizer import published_target

    return {TARGET: published_target(folder, config)}


def open_answer_type(folder: Path, config: Json, labels: list[str]) -> AnswerType:
    """The answer type of a model folder, with the files that it needs."""
    found = answer_type_of(config, str(folder / CONFIG))
    files = published_files(folder, config) if isinstance(found, Text) else {}
    if files and isinstance(found, Text):
        return found.with_files(files, str(folder))
    return load_answer_files(found, folder, labels)

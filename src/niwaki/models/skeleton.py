"""Makes an untrained network from a config, by allow-list: known families, known heads, no code from a file."""

import json
from collections.abc import Callable
from pathlib import Path

from niwaki.answers._from_config import is_bare_encoder
from niwaki.core import strict_json
from niwaki.core.errors import InputError, first_line
from niwaki.core.json_types import Json
from niwaki.models.anatomy import Network, heads_by_architecture
from niwaki.models.config_rules import CONFIG, MAX_BYTES, checked, shown
from niwaki.models.family import FAMILIES, Family, family_of, is_known
from niwaki.models.meta_device import on_meta_device
from niwaki.models.parts.heads._head import is_head_of

SEQUENCE_CLASSIFICATION = "SequenceClassification"  # the head for whole texts
IMAGE_CLASSIFICATION = "ImageClassification"  # and for images
IMAGE_HEADS = (IMAGE_CLASSIFICATION, "ImageClassificationWithTeacher")
CONDITIONAL_GENERATION = "ConditionalGeneration"  # and what texts are written by
FEATURE_EXTRACTION = "FeatureExtraction"  # no task head
MASKED_LM = "MaskedLM"  # logits of all tokens of the vocabulary
DETECTOR = "PreTraining"  # whether a token was replaced
ALL = {name: head.auto_class for name, head in heads_by_architecture().items()}  # architecture → transformers' class
PRETRAINING = [name for name, head in heads_by_architecture().items() if head.pretrains]
HEADS = [
    name for name in ALL if name not in (*IMAGE_HEADS, CONDITIONAL_GENERATION, FEATURE_EXTRACTION, *PRETRAINING)
]  # for tasks of encoders

MAX_SHAPES = 64
_SHAPES: dict[str, Network] = {}  # by config


def checked_config(values: object, where: str) -> Json:
    """The config of a known family, without all that does not describe its shape (`config_rules`). transformers then knows
    the family too."""
    kind = values.get("model_type") if isinstance(values, dict) else None
    if isinstance(values, dict) and not is_known(kind):
        raise InputError(
            f"{where}: model_type {shown(kind)} is not supported; there is: {', '.join(FAMILIES.names())} (or install the package that provides it)"
        )
    config = checked(values, where)
    family_of(str(kind)).register_networks()
    return config


def read_config(folder: Path) -> Json:
    """That of a folder."""
    where = folder / CONFIG
    return checked_config(strict_json.load(where, MAX_BYTES), str(where))


def build(values: Json) -> Network:
    """A stock network with random weights."""
    import transformers

    values = checked_config(values, "config")
    head, family = head_of(values), family_of(values["model_type"])
    if (head == CONDITIONAL_GENERATION) != (family.decoder is not None):
        raise InputError(f"config: a model of family '{values['model_type']}' has no head for {head}")
    family.check_config(values)
    _check_inputs(values["model_type"], family, head)
    embeds = (family.in_transformers and family.head.states_of_tokens) or family.head.embeds
    if head == FEATURE_EXTRACTION and (not embeds or family.decoder is not None):
        raise InputError(
            f"config: a model of family '{values['model_type']}' has no sentence embeddings; take another family"
        )
    if (head == MASKED_LM and family.head.vocabulary is None) or (head == DETECTOR and family.head.detector is None):
        raise InputError(
            f"config: a model of family '{values['model_type']}' has no head for {head}; take another family, e.g. 'electra'"
        )
    whole = (SEQUENCE_CLASSIFICATION, *IMAGE_HEADS, CONDITIONAL_GENERATION, FEATURE_EXTRACTION)
    if head not in whole and not family.head.per_token:
        raise InputError(
            f"config: a model of family '{values['model_type']}' answers for whole texts, not for tokens ({head}); take another family"
        )
    try:
        config = transformers.AutoConfig.for_model(**values)
        network = _builder(head, values["model_type"])(config, attn_implementation=attention())
    except Exception as error:  # noqa: BLE001 - a wrong number in a config can break transformers anywhere
        raise InputError(f"config: describes no network that can be made ({first_line(error)})") from None
    if values.get("tie_word_embeddings") is False:
        network.config.tie_word_embeddings = False  # which some classes of transformers forget
    family.adapt_network(network)
    return network


def _check_inputs(name: str, family: type[Family], head: str) -> None:
    """Rejects a head for texts on a network that reads images, and the reverse."""
    reads = "images" if head in IMAGE_HEADS else "texts"
    if head != FEATURE_EXTRACTION and reads != family.inputs.reads:
        raise InputError(
            f"config: a model of family '{name}' reads {family.inputs.reads}, and the head {head} is for {reads}; take a task on {family.inputs.reads}, or another model"
        )


def shape_of(values: Json) -> Network:
    """The network of a config on the meta device, which takes no memory. It is cached: read it, never change it."""
    key = json.dumps(values, default=repr)
    if key not in _SHAPES:
        if len(_SHAPES) == MAX_SHAPES:
            _SHAPES.clear()
        with on_meta_device():
            _SHAPES[key] = build(values)
    return _SHAPES[key]


def _builder(head: str, model_type: str) -> Callable[..., Network]:
    """What builds a network from a config."""
    import transformers

    from niwaki.models.networks.bare_encoder import bare_encoder_class

    if head == FEATURE_EXTRACTION and family_of(model_type).in_transformers:
        return bare_encoder_class(model_type)._from_config
    paths = family_of(model_type).head.vocabulary
    name = paths.auto_class if head == MASKED_LM and paths is not None else ALL[head]
    found: Callable[..., Network] = getattr(transformers, name).from_config
    return found


def attention() -> str:
    """How attention is computed while training. On CPUs a step with the fused kernel takes an eighth longer than one with
    plain products, because of its backward pass (docs/diary.md); on GPUs it is the faster one."""
    import torch

    return "sdpa" if torch.cuda.is_available() else "eager"


def head_of(values: Json) -> str:
    """Which head the config's architecture has, e.g. `BertForSequenceClassification` → `SequenceClassification`."""
    names = values.get("architectures") or []
    for name in names:
        for head, kind in heads_by_architecture().items():
            if is_head_of(kind, str(name)):
                return head
    if is_bare_encoder(values):
        return FEATURE_EXTRACTION
    raise InputError(
        f"config: architectures {names} has none of the heads niwaki knows ({', '.join(ALL)}); fine-tune it first"
    )

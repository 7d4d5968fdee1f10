"""Makes an untrained network from a config, by allow-list: known families, known heads, no code from a file."""

from typing import Any

from niwaki.core.errors import Refused
from niwaki.models.anatomy import FAMILIES, Network

HEADS = {"SequenceClassification": "AutoModelForSequenceClassification"}  # architecture suffix → transformers' class
FORBIDDEN = ("auto_map", "trust_remote_code", "custom_generate", "custom_pipelines", "quantization_config")


def checked_config(values: dict[str, Any], where: str) -> dict[str, Any]:
    """The config without what must never steer code: refused where it asks for code, trimmed of private keys."""
    kind = values.get("model_type")
    if kind not in FAMILIES.names():
        raise Refused(f"{where}: model_type {kind!r} is not supported; there is: {', '.join(FAMILIES.names())}")
    asked = [key for key in FORBIDDEN if values.get(key)]
    if asked:
        raise Refused(f"{where}: '{asked[0]}' asks for code or formats that niwaki never loads; remove the key")
    return {key: value for key, value in values.items() if not key.startswith("_")}


def build(values: dict[str, Any]) -> Network:
    """A stock network with random weights."""
    import transformers

    values = checked_config(values, "config")
    config = transformers.AutoConfig.for_model(**values)
    return getattr(transformers, HEADS[head_of(values)]).from_config(config, attn_implementation=attention())


def attention() -> str:
    """How attention is computed while training. On CPUs the fused kernel's backward pass takes twice as long as plain
    products on texts of this length (docs/diary.md); on GPUs it is the faster one."""
    import torch

    return "sdpa" if torch.cuda.is_available() else "eager"


def head_of(values: dict[str, Any]) -> str:
    """Which head the config's architecture has, e.g. `BertForSequenceClassification` → `SequenceClassification`."""
    names = values.get("architectures") or []
    for name in names:
        for head in HEADS:
            if str(name).endswith(f"For{head}"):
                return head
    raise Refused(
        f"config: architectures {names} has none of the heads niwaki knows ({', '.join(HEADS)}); fine-tune it first"
    )

"""Makes an untrained network from a config, by allow-list: known families, known heads, no code from a file."""

from typing import Any

from niwaki.core.errors import Refused, first_line
from niwaki.models.anatomy import FAMILIES, Network, is_known

HEADS = {
    name: f"AutoModelFor{name}" for name in ("SequenceClassification", "TokenClassification", "QuestionAnswering")
}  # architecture suffix → transformers' class
FORBIDDEN = ("auto_map", "trust_remote_code", "custom_generate", "custom_pipelines", "quantization_config")


LARGEST, MOST_LAYERS = 10_000_000, 1000  # no model of these families comes near; more is a fault, or aimed at memory


def checked_config(values: Any, where: str) -> dict[str, Any]:
    """The config without what must never steer code: refused where it asks for code, trimmed of private keys."""
    if not isinstance(values, dict):
        raise Refused(f"{where}: must be a table, not {type(values).__name__}")
    kind = values.get("model_type")
    if not is_known(kind):
        raise Refused(f"{where}: model_type {kind!r} is not supported; there is: {', '.join(FAMILIES.names())}")
    asked = [key for key in FORBIDDEN if values.get(key)]
    if asked:
        raise Refused(f"{where}: '{asked[0]}' asks for code or formats that niwaki never loads; remove the key")
    for key, value in values.items():
        most = MOST_LAYERS if "layers" in key or "group" in key else LARGEST
        if isinstance(value, int) and value > most and key != "model_max_length":
            raise Refused(f"{where}: '{key}' is {value}, more than any model has ({most})")
    return {key: value for key, value in values.items() if not key.startswith("_")}


def build(values: dict[str, Any]) -> Network:
    """A stock network with random weights."""
    import transformers

    values = checked_config(values, "config")
    kind = getattr(transformers, HEADS[head_of(values)])
    try:
        return kind.from_config(transformers.AutoConfig.for_model(**values), attn_implementation=attention())
    except Exception as error:  # noqa: BLE001 - a wrong number in a config can break transformers anywhere
        raise Refused(f"config: describes no network that can be made ({first_line(error)})") from None


def attention() -> str:
    """How attention is computed while training. On CPUs a step with the fused kernel takes an eighth longer than one with
    plain products, because of its backward pass (docs/diary.md); on GPUs it is the faster one."""
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

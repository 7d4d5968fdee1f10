"""A model folder with heads of several answer types, with and without deltas."""

from pathlib import Path

from engines.kinds import model_of, saved
from niwaki.methods.adapt.adapters import Adapters
from niwaki.methods.adapt.bitfit import Bitfit
from niwaki.methods.adapt.ia3 import Ia3
from niwaki.methods.adapt.lora import Lora
from niwaki.methods.adapt.prefix_tuning import PrefixTuning
from niwaki.methods.adapt.prompt_tuning import PromptTuning
from niwaki.run.add_head import add_head
from run.test_add_delta_head import trained
from run.test_add_head import on_trunk_of

PLAIN = {"number": "score", "tags": "ner", "labels": "topics"}  # heads without deltas: answer type → name
DELTAS = {
    "adapters": Adapters(reduction=8),
    "bitfit": Bitfit(),
    "ia3": Ia3(merge=False),
    "lora": Lora(rank=2, merge=False),
    "prefix": PrefixTuning(tokens=3),
    "prompt": PromptTuning(tokens=3),
}


def folder_with_heads(
    home: Path, family: str = "bert", deltas: tuple[str, ...] = (), plain: dict | None = None
) -> Path:
    """`home/trunk`, a classifier, with further heads."""
    root = model_of("label", family)
    folder = saved(root, home / "trunk")
    for kind, name in (PLAIN if plain is None else plain).items():
        add_head(folder, saved(on_trunk_of(root, kind, family), home / kind), name)
    for name in deltas:
        add_head(folder, saved(trained(folder, DELTAS[name]), home / name), name)
    return folder

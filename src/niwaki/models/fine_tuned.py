"""Tells a plain pretrained encoder from a model that was already fine-tuned for a task.

The encoder of a fine-tuned model has seen labels. A baseline on top of it would inherit them, so it would no longer be a baseline.
A fine-tuned encoder that was saved by other tools without its head cannot be recognized.
"""

from pathlib import Path

from niwaki.core.errors import InputError
from niwaki.core.shards import stored_tensors
from niwaki.models.anatomy import anatomy_of
from niwaki.models.family import family_of
from niwaki.models.meta_device import on_meta_device
from niwaki.models.model import BLUEPRINT
from niwaki.models.skeleton import HEADS, build, read_config
from niwaki.models.ties import unique_tensors

WITHOUT_LABELS = ("likelihood", "reconstruction", "embedding")  # answer types of models that are trained on plain texts


def fine_tuned(folder: Path) -> str:
    """Why the model in `folder` is not a plain pretrained encoder; empty where it is one."""
    if (folder / BLUEPRINT).exists():
        return f"niwaki compressed it ({BLUEPRINT})"
    config = read_config(folder)
    answer = config.get("niwaki_answer")
    if isinstance(answer, dict) and answer.get("kind") in WITHOUT_LABELS:
        return ""
    if any(key.startswith("niwaki_") and value for key, value in config.items()):
        return "a niwaki stage saved it"
    names = stored_tensors(folder).tensors.keys() & task_head_tensors(config)
    return f"its weights hold a task head ({min(names)})" if names else ""


def task_head_tensors(config: dict) -> set[str]:
    """Names of the tensors that any task head of this family has outside the encoder. Heads of pretraining (masked language
    model, next sentence) have other names; the pooler is part of pretraining too."""
    if family_of(str(config["model_type"])).decoder is not None:
        return set()  # its head writes text, and comes from pretraining
    found: set[str] = set()
    for head in HEADS:
        try:
            with on_meta_device():
                network = build({**config, "architectures": [f"AnyFor{head}"]})
        except InputError:  # the family has no such head
            continue
        body = f"{anatomy_of(network).family.body}."
        found |= {name for name in unique_tensors(network) if not name.startswith(body) and ".pooler." not in name}
    return {name for name in found if not name.startswith(_pretrained_inner(config))}


def _pretrained_inner(config: dict) -> tuple[str, ...]:
    """Beginnings of the names of what comes before the last matrix in the masked-LM head; in some families heads for tasks have the same."""
    vocabulary = family_of(str(config["model_type"])).head.vocabulary
    return tuple(f"{path}." for path in (vocabulary.dense, vocabulary.norm) if path) if vocabulary else ()

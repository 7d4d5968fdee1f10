"""Writes a LoRA, (IA)³ or prompt delta in the format of the peft package: adapter_config.json and adapter_model.safetensors.

peft loads it with `PeftModel.from_pretrained(network, folder)`, where `network` is the trunk in transformers with a head for as many
labels. The head is stored with the delta. peft has no bottleneck adapters and no BitFit.
"""

from collections.abc import Callable
from pathlib import Path

from torch import Tensor

from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder, write_json
from niwaki.core.head_folder import HEAD_WEIGHTS, is_head_folder, trunk_folder
from niwaki.core.json_types import Json
from niwaki.core.tensor_file import read_header
from niwaki.models.deltas._delta import Tuned, tuned_paths
from niwaki.models.edit import Edit
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.edits.prefix import Prefix
from niwaki.models.edits.prompt import Prompt
from niwaki.models.model import Model, load_folder
from niwaki.models.prefix import prefix_of
from niwaki.models.ties import unique_tensors
from niwaki.models.trunk import is_of_head, is_of_pooler

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
MODEL, NETWORK = "base_model.model.", "base_model."  # what names begin with, for deltas of matrices and for prompts
TASKS = {
    "SequenceClassification": "SEQ_CLS",
    "TokenClassification": "TOKEN_CLS",
    "QuestionAnswering": "QUESTION_ANS",
    "FeatureExtraction": "FEATURE_EXTRACTION",
}
Written = tuple[Json, dict[str, Tensor]]  # keys of the config, and tensors


def write_peft(folder: str | Path, out: str | Path) -> Path:
    """Writes the delta of a model folder or a head folder to `out`, and returns that folder."""
    source, target = Path(folder).expanduser(), Path(out).expanduser()
    if target.exists():
        raise InputError(f"{target}: exists already; remove it, or choose another folder")
    model = load_folder(source)
    kind = kind_of(model, source)
    found, tensors = WRITERS[kind](model)
    start = MODEL if kind in ("lora", "ia3") else NETWORK
    head = head_tensors(model, source)
    modules = sorted({".".join(name.split(".")[: 2 if is_of_pooler(name) else 1]) for name in head})
    config = {
        "peft_type": kind.upper(),
        "task_type": TASKS.get(model.anatomy.head.architecture),
        "base_model_name_or_path": trunk_folder(source).name if is_head_folder(source) else None,
        "modules_to_save": modules or None,
        "inference_mode": True,
        **found,
    }
    with commit_folder(target) as temporary:
        from safetensors.torch import save_file

        every = {**tensors, **{f"{start}{name}": value for name, value in head.items()}}
        save_file(every, temporary / WEIGHTS, metadata={"format": "pt"})
        write_json(temporary / CONFIG, config)
    return target


def kind_of(model: Model, source: Path) -> str:
    """The type of the only delta of a model on a plain trunk."""
    kinds = {_kind(edit) for edit in model.blueprint.edits}
    if len(kinds) != 1 or not kinds <= WRITERS.keys():
        there = ", ".join(sorted(kinds)) or "no delta"
        raise InputError(
            f"{source}: peft reads one delta (lora, ia3, prompt_tuning or prefix_tuning) on a plain trunk, and this model has {there}; tune a "
            "plain model with one of these and merge = false"
        )
    paths = model.anatomy.family.layer
    if paths is None or paths.stack.fused or model.anatomy.is_seq2seq:
        raise InputError(f"{source}: peft does not find the matrices of this family by the same names; use an encoder")
    return next(iter(kinds))


def _kind(edit: Edit) -> str:
    if isinstance(edit, AddDelta):
        return edit.kind
    known = {Prompt: "prompt_tuning", Prefix: "prefix_tuning"}
    return known.get(type(edit), f"edit '{edit.label()}'")


def head_tensors(model: Model, source: Path) -> dict[str, Tensor]:
    """The head with its pooler, unless a head folder shares that of the trunk."""
    body = model.anatomy.family.body
    found = {name: value for name, value in unique_tensors(model.network).items() if is_of_head(name, body)}
    if not is_head_folder(source):
        return found
    stored = read_header(source / HEAD_WEIGHTS).tensors
    return {name: value for name, value in found.items() if name in stored}


def tuned(model: Model) -> dict[str, Tuned]:
    """Matrices with deltas by their paths in transformers."""
    found = {path: model.network.get_submodule(path) for path in tuned_paths(model.network)}
    return {path: module for path, module in found.items() if isinstance(module, Tuned)}


def lora(model: Model) -> Written:
    found = tuned(model)
    (edit,) = (edit for edit in model.blueprint.edits if isinstance(edit, AddDelta))
    settings = next(iter(found.values())).delta.settings(**edit.settings).model_dump()
    config = {
        "r": settings["rank"],
        "lora_alpha": settings["alpha"],
        "lora_dropout": settings["dropout"],
        "bias": "none",
        "fan_in_fan_out": False,
        "target_modules": sorted(found),
    }
    names = {"lora_A": "down", "lora_B": "up"}
    return config, {
        f"{MODEL}{path}.{theirs}.weight": module.delta.get_submodule(ours).get_parameter("weight").detach()
        for path, module in found.items()
        for theirs, ours in names.items()
    }


def ia3(model: Model) -> Written:
    found = tuned(model)
    inputs = sorted(path for path, module in found.items() if getattr(module.delta, "scales_inputs", False))
    config = {"target_modules": sorted(found), "feedforward_modules": inputs, "fan_in_fan_out": False}
    tensors = {path: module.delta.get_parameter("gain").detach() for path, module in found.items()}
    return config, {
        f"{MODEL}{path}.ia3_l": gain[None] if path in inputs else gain[:, None] for path, gain in tensors.items()
    }


def prompt_tuning(model: Model) -> Written:
    vectors = model.network.get_parameter(f"{model.anatomy.inputs.token_table}.delta.vectors").detach()
    return virtual_tokens(model, len(vectors), vectors.shape[1]), {"prompt_embeddings": vectors.contiguous()}


def prefix_tuning(model: Model) -> Written:
    """peft stores (tokens, layers × 2 × hidden): for each token keys and values of the first layer, then of the second."""
    import torch

    layers = model.anatomy.layers
    if len(layers) != len(model.anatomy.order):
        raise InputError(
            "prefix_tuning: in peft, layers that share their matrices do not share a prefix; keep it in niwaki"
        )
    if not model.anatomy.inputs.taken_positions:
        raise InputError(
            "prefix_tuning: in peft, texts begin at the position behind the prefix; train it with peft_positions = true"
        )
    found = [prefix for layer in layers if (prefix := prefix_of(layer.module)) is not None]
    both = torch.stack([one.detach() for prefix in found for one in (prefix.keys, prefix.values)], dim=1)
    config = virtual_tokens(model, len(both), both.shape[2]) | {
        "prefix_projection": False,
        "encoder_hidden_size": both.shape[2],
    }
    return config, {"prompt_embeddings": both.flatten(1).contiguous()}


def virtual_tokens(model: Model, tokens: int, width: int) -> Json:
    return {
        "num_virtual_tokens": tokens,
        "token_dim": width,
        "num_layers": len(model.anatomy.order),
        "num_attention_heads": model.anatomy.layers[0].heads,
        "num_transformer_submodules": 1,
    }


WRITERS: dict[str, Callable[[Model], Written]] = {
    "lora": lora,
    "ia3": ia3,
    "prompt_tuning": prompt_tuning,
    "prefix_tuning": prefix_tuning,
}

"""Decoder-only models in GGUF files (llama.cpp's format) as checkpoints of transformers: config, tensors and tokenizer.

| architecture | family |
|---|---|
| llama | `llama`; rows of queries and keys lie in the order of the rotation there |
| gpt2 | `gpt2`; matrices are transposed |
"""

import mmap
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from niwaki.core.errors import InputError
from niwaki.core.files import require_memory
from niwaki.core.gguf_blocks import floats_of
from niwaki.core.gguf_file import GgufFile, read_gguf
from niwaki.core.json_types import Json
from niwaki.models.value_rules import MOST_LAYERS, MOST_POSITIONS, WIDEST, Rule, positive, share, whole

Tensors = dict[str, NDArray[np.float32]]
ROTATED = ("attn_q", "attn_k")  # matrices of llama whose rows lie in another order
LLAMA_LAYER = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
LLAMA_REST = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
GPT2_LAYER = {
    "attn_norm": "ln_1",
    "attn_qkv": "attn.c_attn",
    "attn_output": "attn.c_proj",
    "ffn_norm": "ln_2",
    "ffn_up": "mlp.c_fc",
    "ffn_down": "mlp.c_proj",
}
GPT2_REST = {
    "token_embd": "transformer.wte",
    "position_embd": "transformer.wpe",
    "output_norm": "transformer.ln_f",
    "output": "lm_head",
}
TRANSPOSED = ("attn_qkv", "attn_output", "ffn_up", "ffn_down")  # of gpt2


def read(path: Path) -> tuple[Json, Tensors, Json]:
    """Config, tensors and metadata of a file."""
    if not path.is_file():
        raise InputError(f"{path}: is not there")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: is empty")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        data = memoryview(mapped)
        try:
            found = read_gguf(path, data)
            architecture = found.metadata.get("general.architecture")
            if architecture not in ARCHITECTURES:
                raise InputError(
                    f"{path}: is of architecture {str(architecture)[:40]!r}; take one of: {', '.join(ARCHITECTURES)}"
                )
            require_memory(
                8 * sum(int(np.prod(one.shape)) for one in found.tensors.values()), f"{path}: its tensors as floats"
            )
            config, names = ARCHITECTURES[architecture](found, str(path))
            tensors = {names[name]: floats_of(one, data) for name, one in found.tensors.items()}
        finally:
            data.release()
    return config, _rearranged(architecture, tensors, config), found.metadata


def _value(found: GgufFile, key: str, rule: Rule, where: str, default: float | None = None) -> float:
    """A metadata entry of the architecture."""
    name = f"{found.metadata['general.architecture']}.{key}"
    value = found.metadata.get(name, default)
    if value is None or not rule(value):
        raise InputError(f"{where}: {name} is {str(value)[:40]}, which no model of this architecture has")
    found_value: float = value
    return found_value


def _shared(found: GgufFile, where: str) -> Json:
    tokens = found.metadata.get("tokenizer.ggml.tokens")
    table = found.tensors.get("token_embd.weight")
    if table is None or len(table.shape) != 2 or not isinstance(tokens, list) or len(tokens) != table.shape[0]:
        raise InputError(f"{where}: has no vector for each of its tokens (token_embd.weight)")
    ids = {key: found.metadata.get(f"tokenizer.ggml.{name}_token_id") for key, name in _IDS.items()}
    return {
        "vocab_size": table.shape[0],
        **{key: value for key, value in ids.items() if isinstance(value, int)},
        "tie_word_embeddings": "output.weight" not in found.tensors,
    }


_IDS = {"bos_token_id": "bos", "eos_token_id": "eos", "pad_token_id": "padding"}


def _llama(found: GgufFile, where: str) -> tuple[Json, dict[str, str]]:
    if "rope_freqs.weight" in found.tensors or found.metadata.get("llama.rope.scaling.type") not in (None, "none"):
        raise InputError(
            f"{where}: has scaled rotations, which are not read from GGUF files; take the checkpoint of transformers"
        )
    heads = _value(found, "attention.head_count", whole(4096, 1), where)
    size = _value(found, "embedding_length", whole(WIDEST, 1), where)
    config = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": size,
        "num_hidden_layers": _value(found, "block_count", whole(MOST_LAYERS, 1), where),
        "num_attention_heads": heads,
        "num_key_value_heads": _value(found, "attention.head_count_kv", whole(4096, 1), where, heads),
        "head_dim": _value(found, "rope.dimension_count", whole(4096, 1), where, size // heads),
        "intermediate_size": _value(found, "feed_forward_length", whole(WIDEST, 1), where),
        "max_position_embeddings": _value(found, "context_length", whole(MOST_POSITIONS, 1), where),
        "rms_norm_eps": _rounded(_value(found, "attention.layer_norm_rms_epsilon", share, where)),
        "rope_theta": _value(found, "rope.freq_base", positive, where, 10_000.0),
        **_shared(found, where),
    }
    return config, _names(found, LLAMA_LAYER, LLAMA_REST, "model.layers", where)


def _gpt2(found: GgufFile, where: str) -> tuple[Json, dict[str, str]]:
    config = {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "n_embd": _value(found, "embedding_length", whole(WIDEST, 1), where),
        "n_layer": _value(found, "block_count", whole(MOST_LAYERS, 1), where),
        "n_head": _value(found, "attention.head_count", whole(4096, 1), where),
        "n_inner": _value(found, "feed_forward_length", whole(WIDEST, 1), where),
        "n_positions": _value(found, "context_length", whole(MOST_POSITIONS, 1), where),
        "layer_norm_epsilon": _rounded(_value(found, "attention.layer_norm_epsilon", share, where)),
        **_shared(found, where),
    }
    return config, _names(found, GPT2_LAYER, GPT2_REST, "transformer.h", where)


def _rounded(epsilon: float) -> float:
    """As it was written before it became a 32-bit float."""
    return float(f"{epsilon:.6g}")


def _names(found: GgufFile, layer: dict[str, str], rest: dict[str, str], layers: str, where: str) -> dict[str, str]:
    """The name in transformers for each tensor of the file."""
    names: dict[str, str] = {}
    for name in found.tensors:
        path, _, kind = name.rpartition(".")
        begin, _, part = path.rpartition(".")
        number = begin.removeprefix("blk.")
        if begin.startswith("blk.") and number.isdecimal() and part in layer:
            names[name] = f"{layers}.{int(number)}.{layer[part]}.{kind}"
        elif path in rest:
            names[name] = f"{rest[path]}.{kind}"
        else:
            raise InputError(f"{where}: has a tensor {name[:60]!r}, which its architecture does not have")
    return names


def _rearranged(architecture: str, tensors: Tensors, config: Json) -> Tensors:
    if architecture == "gpt2":
        turned = tuple(f"{GPT2_LAYER[part]}.weight" for part in TRANSPOSED)
        return {name: np.ascontiguousarray(one.T) if name.endswith(turned) else one for name, one in tensors.items()}
    rotated = tuple(f"{LLAMA_LAYER[part]}.weight" for part in ROTATED)
    return {
        name: in_halves(one, config["head_dim"]) if name.endswith(rotated) else one for name, one in tensors.items()
    }


def in_halves(rows: NDArray[np.float32], head_size: int) -> NDArray[np.float32]:
    """Rows of queries or keys (heads × head size, hidden): llama.cpp rotates neighbours, transformers the halves of a head."""
    if rows.shape[0] % head_size or head_size % 2:
        raise InputError(
            f"a matrix of {rows.shape[0]} rows cannot be divided into heads of {head_size}; the GGUF file is damaged"
        )
    pairs = rows.reshape(-1, head_size // 2, 2, rows.shape[1])
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(rows.shape))


ARCHITECTURES: dict[str, Callable[[GgufFile, str], tuple[Json, dict[str, str]]]] = {"llama": _llama, "gpt2": _gpt2}

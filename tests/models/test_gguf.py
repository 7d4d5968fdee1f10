"""Decoder-only models from GGUF files have the logits of the transformers network that the file was made of."""

import numpy as np
import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

import ggufs
from niwaki.convert_gguf import convert
from niwaki.core.errors import InputError
from niwaki.models.forward import Batch, forward
from niwaki.models.gguf import in_halves, read
from niwaki.models.model import load_folder

LETTERS = [*"abcdefghijklm", "ab", "abc", "<end>"]
TOKENIZER = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.tokens": LETTERS,
    "tokenizer.ggml.merges": ["a b", "ab c"],
    "tokenizer.ggml.token_type": [1] * (len(LETTERS) - 1) + [3],
    "tokenizer.ggml.eos_token_id": len(LETTERS) - 1,
}


def randomized(network):
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape) / 5)
    return network.eval()


def as_neighbours(rows, head_size):
    """As llama.cpp's converter stores queries and keys: pairs that are rotated together lie next to each other."""
    halves = rows.reshape(-1, 2, head_size // 2, rows.shape[1])
    return halves.swapaxes(1, 2).reshape(rows.shape)


def llama(folder, kind=ggufs.F32, tied=True, **metadata):
    config = LlamaConfig(
        vocab_size=len(LETTERS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=40,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
        tie_word_embeddings=tied,
    )
    network = randomized(LlamaForCausalLM(config))
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    names = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
    names |= {f"attn_{one}": f"self_attn.{one}_proj" for one in "qkv"} | {"attn_output": "self_attn.o_proj"}
    names |= {f"ffn_{one}": f"mlp.{one}_proj" for one in ("gate", "up", "down")}
    tensors = {"token_embd.weight": (state["model.embed_tokens.weight"], kind)}
    tensors["output_norm.weight"] = (state["model.norm.weight"], ggufs.F32)
    if not tied:
        tensors["output.weight"] = (state["lm_head.weight"], kind)
    for number in range(2):
        for part, name in names.items():
            value = state[f"model.layers.{number}.{name}.weight"]
            value = as_neighbours(value, 8) if part in ("attn_q", "attn_k") else value
            tensors[f"blk.{number}.{part}.weight"] = (value, kind if value.ndim > 1 else ggufs.F32)
    shape = {"block_count": 2, "context_length": 40, "embedding_length": 32, "feed_forward_length": 64}
    shape |= {"attention.head_count": 4, "attention.head_count_kv": 2, "rope.freq_base": 5000.0}
    shape |= {"attention.layer_norm_rms_epsilon": 1e-6}
    stated = {"general.architecture": "llama", **{f"llama.{name}": one for name, one in shape.items()}, **TOKENIZER}
    return network, ggufs.write(folder / "llama.gguf", {**stated, **metadata}, tensors)


def gpt2(folder):
    sizes = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_inner": 64, "n_positions": 40}
    network = randomized(GPT2LMHeadModel(GPT2Config(vocab_size=len(LETTERS), **sizes)))
    state = {name: value.numpy() for name, value in network.state_dict().items()}
    parts = {"attn_norm": "ln_1", "attn_qkv": "attn.c_attn", "attn_output": "attn.c_proj"}
    parts |= {"ffn_norm": "ln_2", "ffn_up": "mlp.c_fc", "ffn_down": "mlp.c_proj"}
    tensors = {
        "token_embd.weight": state["transformer.wte.weight"],
        "position_embd.weight": state["transformer.wpe.weight"],
    }
    tensors |= {f"output_norm.{kind}": state[f"transformer.ln_f.{kind}"] for kind in ("weight", "bias")}
    for number in range(2):
        for part, name in parts.items():
            for kind in ("weight", "bias"):
                value = state[f"transformer.h.{number}.{name}.{kind}"]
                tensors[f"blk.{number}.{part}.{kind}"] = value.T if value.ndim > 1 else value
    shape = {"block_count": 2, "context_length": 40, "embedding_length": 32, "feed_forward_length": 64}
    shape |= {"attention.head_count": 4, "attention.layer_norm_epsilon": 1e-5}
    stated = {"general.architecture": "gpt2", **{f"gpt2.{name}": one for name, one in shape.items()}, **TOKENIZER}
    return network, ggufs.write(folder / "gpt2.gguf", stated, {name: (one, ggufs.F32) for name, one in tensors.items()})


def difference(reference, folder):
    model = load_folder(folder)
    mask = (torch.arange(20)[None] < torch.tensor([20, 7, 1])[:, None]).long()
    ids = torch.randint(0, len(LETTERS), mask.shape, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        found = forward(model.anatomy, Batch({"input_ids": ids, "attention_mask": mask}, ids, torch.arange(3))).logits
        wanted = reference(input_ids=ids, attention_mask=mask).logits
    return float((found - wanted)[mask.bool()].abs().max())


@pytest.mark.parametrize(
    "make", [llama, lambda folder: llama(folder, tied=False), gpt2], ids=["tied", "untied", "gpt2"]
)
def test_logits_are_those_of_the_network(make, tmp_path):
    reference, path = make(tmp_path)
    assert convert(path, tmp_path / "model") >= 20
    assert difference(reference, tmp_path / "model") < 1e-5


def test_8_bit_numbers_become_floats_near_the_original_ones(tmp_path):
    reference, path = llama(tmp_path, ggufs.Q8_0)
    _, tensors, _ = read(path)
    wanted = reference.state_dict()["model.layers.1.self_attn.q_proj.weight"].numpy()
    found = tensors["model.layers.1.self_attn.q_proj.weight"]
    step = np.abs(as_neighbours(wanted, 8)).max() / 127
    assert found.dtype == np.float32 and 0 < np.abs(found - wanted).max() <= 0.51 * step


def test_rows_are_turned_from_neighbours_to_halves():
    rows = np.arange(8, dtype=np.float32)[:, None]
    assert in_halves(rows, 4)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]
    assert np.array_equal(as_neighbours(in_halves(rows, 4), 4), rows)
    with pytest.raises(InputError, match="cannot be divided into heads of 3"):
        in_halves(rows, 3)


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ({"general.architecture": "mamba"}, "is of architecture 'mamba'; take one of: llama, gpt2"),
        ({"llama.block_count": 0}, "llama.block_count is 0, which no model of this architecture has"),
        ({"llama.rope.scaling.type": "yarn"}, "has scaled rotations, which are not read from GGUF files"),
        ({"tokenizer.ggml.tokens": ["a"]}, "has no vector for each of its tokens"),
    ],
)
def test_what_is_not_supported_is_rejected_by_name(metadata, problem, tmp_path):
    _, path = llama(tmp_path, **metadata)
    with pytest.raises(InputError, match=problem):
        read(path)


def test_unknown_tensors_and_missing_files_are_rejected(tmp_path):
    table = np.zeros((len(LETTERS), 32), np.float32)
    stated = {"general.architecture": "gpt2", **TOKENIZER, "gpt2.embedding_length": 32, "gpt2.block_count": 1}
    stated |= {"gpt2.attention.head_count": 4, "gpt2.feed_forward_length": 8, "gpt2.context_length": 8}
    stated |= {"gpt2.attention.layer_norm_epsilon": 1e-5}
    tensors = {"token_embd.weight": (table, ggufs.F32), "blk.0.extra.weight": (table, ggufs.F32)}
    with pytest.raises(InputError, match=r"has a tensor 'blk.0.extra.weight', which its architecture does not have"):
        read(ggufs.write(tmp_path / "x.gguf", stated, tensors))
    with pytest.raises(InputError, match="is not there"):
        read(tmp_path / "none.gguf")
    (tmp_path / "empty.gguf").write_bytes(b"")
    with pytest.raises(InputError, match="is empty"):
        read(tmp_path / "empty.gguf")

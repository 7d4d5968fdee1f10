"""peft's format: names, shapes and keys, as peft itself writes and reads them (compared by hand with peft 0.21)."""

import json

import pytest
import torch
from safetensors.torch import load_file

import tiny
from calibrated import CONTEXT
from engines.kinds import model_of, saved
from models.deltas.tuned import drawn, with_delta
from niwaki.cli._app import run
from niwaki.core.errors import InputError
from niwaki.methods.adapt.lora import Lora
from niwaki.models.edits.add_delta import AddDelta
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.prefix import Prefix
from niwaki.models.edits.prompt import Prompt
from niwaki.models.prefix import prefix_of
from niwaki.run.add_head import add_head
from niwaki.run.peft_format import write_peft

SELF = "base_model.model.bert.encoder.layer.1.attention.self"
FFN = "base_model.model.bert.encoder.layer.1.output.dense"
HEAD = {"classifier.weight": (2, 32), "classifier.bias": (2,)}
POOLER = {"bert.pooler.dense.weight": (32, 32), "bert.pooler.dense.bias": (32,)}


def written(model, home):
    folder = home / "model"
    folder.mkdir()
    model.save(folder)
    out = write_peft(folder, home / "peft")
    assert {path.name for path in out.iterdir()} <= {"adapter_config.json", "adapter_model.safetensors", "MANIFEST"}
    return json.loads((out / "adapter_config.json").read_text()), load_file(out / "adapter_model.safetensors")


def shapes(tensors, start):
    return {name: tuple(value.shape) for name, value in tensors.items() if name.startswith(start)}


def test_lora(tmp_path):
    model = with_delta("lora", ["query", "ffn_out"], rank=3, alpha=6.0, dropout=0.1)
    config, tensors = written(model, tmp_path)
    assert shapes(tensors, f"{SELF}.") == {
        f"{SELF}.query.lora_A.weight": (3, 32),
        f"{SELF}.query.lora_B.weight": (32, 3),
    }
    assert shapes(tensors, FFN) == {f"{FFN}.lora_A.weight": (3, 64), f"{FFN}.lora_B.weight": (32, 3)}
    assert config["peft_type"] == "LORA" and config["task_type"] == "SEQ_CLS"
    assert (config["r"], config["lora_alpha"], config["lora_dropout"]) == (3, 6.0, 0.1)
    assert len(config["target_modules"]) == 6 and f"{FFN}".removeprefix("base_model.model.") in config["target_modules"]
    assert config["modules_to_save"] == ["bert.pooler", "classifier"]
    expected = {f"base_model.model.{name}": shape for name, shape in (HEAD | POOLER).items()}
    assert expected.items() <= shapes(tensors, "base_model").items() and len(tensors) == 12 + 4


def test_ia3(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(AddDelta(kind="ia3", targets=["key"]))
    model.apply_edit(AddDelta(kind="ia3", targets=["ffn_out"], settings={"scales": "inputs"}))
    config, tensors = written(drawn(model), tmp_path)
    assert shapes(tensors, SELF) == {f"{SELF}.key.ia3_l": (32, 1)} and shapes(tensors, FFN) == {f"{FFN}.ia3_l": (1, 64)}
    assert config["peft_type"] == "IA3" and len(config["target_modules"]) == 6
    assert config["feedforward_modules"] == [f"bert.encoder.layer.{n}.output.dense" for n in range(3)]


def test_prompts(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Prompt(tokens=5))
    config, tensors = written(drawn(model), tmp_path)
    assert shapes(tensors, "prompt") == {"prompt_embeddings": (5, 32)}
    assert shapes(tensors, "base_model.classifier") == {f"base_model.{name}": shape for name, shape in HEAD.items()}
    sizes = {"num_virtual_tokens": 5, "token_dim": 32, "num_layers": 3, "num_attention_heads": 4}
    assert config["peft_type"] == "PROMPT_TUNING" and sizes.items() <= config.items()


def test_prefixes_lie_by_token_layer_and_kind(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(Prefix(tokens=5, takes_positions=True))
    config, tensors = written(drawn(model), tmp_path)
    found = tensors["prompt_embeddings"].reshape(5, 3, 2, 32)
    prefix = prefix_of(model.anatomy.layers[1].module)
    assert torch.equal(found[:, 1, 0], prefix.keys) and torch.equal(found[:, 1, 1], prefix.values)
    assert config["peft_type"] == "PREFIX_TUNING" and config["prefix_projection"] is False


def test_a_head_folder_exports_what_it_stores(tmp_path, capsys):
    folder = saved(model_of("label"), tmp_path / "trunk")
    from niwaki.models.model import load_folder

    model = drawn(Lora(rank=2, merge=False).prepare(load_folder(folder), CONTEXT))
    add_head(folder, saved(model, tmp_path / "tuned"), "task")
    out = tmp_path / "peft"
    assert run(["export", str(folder / "heads" / "task"), "--to", "peft", "--out", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["out"] == str(out)
    config = json.loads((out / "adapter_config.json").read_text())
    assert config["modules_to_save"] == ["classifier"] and config["base_model_name_or_path"] == "trunk"
    assert not any("pooler" in name for name in load_file(out / "adapter_model.safetensors"))


@pytest.mark.parametrize(
    "edits, family, message",
    [
        ([], "bert", "this model has no delta"),
        ([AddDelta(kind="adapter", targets=["out"])], "bert", "this model has adapter"),
        ([Int8(), AddDelta(kind="lora", targets=["query"])], "bert", "this model has edit 'int8', lora"),
        ([Prefix(tokens=3)], "bert", "train it with peft_positions = true"),
        ([Prefix(tokens=3, takes_positions=True)], "albert", "layers that share their matrices"),
        ([AddDelta(kind="lora", targets=["query"])], "gpt2", "does not find the matrices of this family"),
    ],
)
def test_what_peft_does_not_have_is_rejected(edits, family, message, tmp_path):
    model = tiny.model(family)
    for edit in edits:
        model.apply_edit(edit)
    with pytest.raises(InputError, match=message):
        written(model, tmp_path)
    assert not (tmp_path / "peft").exists()

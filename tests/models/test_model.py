"""Loading and saving models: damaged, malicious and incomplete folders are rejected in one line."""

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

import tiny
from models.loading import change, rejected
from niwaki.models.edits.heads import Heads
from niwaki.models.head import Head
from niwaki.models.model import load_folder


def test_valid_folders_load(folder, edited):
    assert load_folder(folder).labels == tiny.LABELS
    assert load_folder(edited).labels == tiny.LABELS


def test_path_that_is_not_a_folder_is_rejected(tmp_path):
    rejected(tmp_path / "nothing", "nothing: is not a folder")
    (tmp_path / "file").write_text("x")
    rejected(tmp_path / "file", "is not a folder")


def test_folder_without_config_is_rejected(tmp_path):
    rejected(tmp_path, "is not a model, it has no config.json")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.99])
def test_truncated_weights_are_rejected(folder, edited, share):
    for path in (folder, edited):
        whole = (path / "model.safetensors").read_bytes()
        (path / "model.safetensors").write_bytes(whole[: int(len(whole) * share)])
        rejected(path, "model.safetensors", "damaged")


def test_pickle_is_rejected_with_the_command_that_converts_it(folder):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    rejected(folder, "pytorch_model.bin", "is a pickle", "convert it once", "niwaki.convert_pickle --i-trust")


def test_pickle_next_to_safetensors_is_never_read(folder):
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    load_folder(folder)


def test_missing_weights_are_rejected(folder):
    (folder / "model.safetensors").unlink()
    rejected(folder, "has no model.safetensors")


@pytest.mark.parametrize(
    "values, words",
    [
        ({"auto_map": {"AutoModel": "evil.Model"}}, ["'auto_map' asks for code"]),
        ({"quantization_config": {"quant_method": "gptq"}}, ["'quantization_config'"]),
        ({"model_type": "gpt9"}, ["model_type 'gpt9' is not supported; there is: albert, averaging, bart"]),
        ({"model_type": ["bert"]}, ["is not supported"]),
        ({"model_type": None}, ["is not supported"]),
        ({"hidden_size": 33}, ["config"]),
        ({"hidden_size": 64}, ["of another shape"]),
        ({"hidden_size": "wide"}, ["config"]),
        ({"hidden_size": 10**12}, ["'hidden_size' is 1000000000000, which no model of these families has"]),
        ({"hidden_size": 100_000}, ["more than model.safetensors holds"]),
        ({"num_hidden_layers": 10**9}, ["'num_hidden_layers' is 1000000000, which no model"]),
        ({"num_attention_heads": 0}, ["config"]),
        ({"num_hidden_layers": 5}, ["encoder.layer.3.", "is missing"]),
        ({"vocab_size": 7}, ["of another shape"]),
    ],
)
@pytest.mark.parametrize(
    "head", [None, Head(["a", "b", "c"]), Head(["a"], "TokenClassification")], ids=["own", "new", "tags"]
)
def test_config_that_requires_code_or_does_not_match_the_weights_is_rejected(folder, values, words, head):
    change(folder / "config.json", **values)
    rejected(folder, *words, head=head)


def shard(folder, parts=2, dtype=None):
    """Splits the weights as the hub does."""
    state = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    names, listed = sorted(state), {}
    for number in range(parts):
        name = f"model-{number + 1:05}-of-{parts:05}.safetensors"
        chosen = {one: state[one].to(dtype) if dtype else state[one] for one in names[number::parts]}
        save_file(chosen, folder / name)
        listed |= dict.fromkeys(chosen, name)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": listed}))


@pytest.mark.parametrize("dtype", [None, torch.bfloat16, torch.float16])
def test_weights_in_several_files_and_in_16_bits_are_read(folder, dtype):
    before = load_folder(folder).tensors()
    shard(folder, 3, dtype)
    for name, value in load_folder(folder).tensors().items():
        assert value.dtype == torch.float32
        assert torch.equal(value, before[name].to(dtype).float() if dtype else before[name]), name


def test_a_missing_shard_is_rejected(folder):
    shard(folder)
    (folder / "model-00002-of-00002.safetensors").unlink()
    rejected(folder, "model-00002-of-00002.safetensors: is missing")


@pytest.mark.parametrize("text", ["[]", "3", "null", "{", "", '{"model_type": "bert"}', "[" * 50_000])
def test_invalid_config_file_is_rejected(folder, text):
    (folder / "config.json").write_text(text)
    rejected(folder, "config")


def test_missing_tensor_is_rejected(folder, edited):
    for path in (folder, edited):
        state = load_file(path / "model.safetensors")
        state.pop("bert.encoder.layer.1.output.dense.weight")
        save_file(state, path / "model.safetensors", metadata={"format": "pt"})
        rejected(path, "bert.encoder.layer.1.output.dense.weight", "missing", head=Head(tiny.LABELS))


def test_saving_again_gives_the_same_bytes_without_machine_paths(folder, edited, tmp_path):
    for number, path in enumerate((folder, edited)):
        (tmp_path / str(number)).mkdir()
        model = load_folder(path)
        if number == 0:
            model.apply_edit(Heads(keep=[1, 1, 1]))
        model.save(tmp_path / str(number))
        for name in [path.name for path in edited.iterdir()]:
            again = (tmp_path / str(number) / name).read_bytes()
            assert str(tmp_path).encode() not in again
            assert number == 0 or name == "tokenizer_config.json" or again == (edited / name).read_bytes(), name


def test_parameter_count_equals_the_stored_numbers(folder):
    model = load_folder(folder)
    assert model.parameters() == sum(value.numel() for value in load_file(folder / "model.safetensors").values())


def test_clone_is_independent():
    model = tiny.model("bert")
    other = model.clone()
    other.apply_edit(Heads(keep=[1, 1, 1]))
    with torch.no_grad():
        other.network.classifier.bias += 1
    assert model.anatomy.layers[0].heads == 4 and model.blueprint.edits == []
    assert not torch.equal(model.network.classifier.bias, other.network.classifier.bias)


def test_half_precision_weights_become_float32(folder):
    whole = load_folder(folder)
    state = {name: value.half() for name, value in load_file(folder / "model.safetensors").items()}
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    model = load_folder(folder)
    assert {value.dtype for value in model.network.state_dict().values()} == {torch.float32}
    torch.testing.assert_close(
        tiny.logits(model, tiny.batch(model)), tiny.logits(whole, tiny.batch(whole)), atol=0.02, rtol=0
    )


def test_loaded_model_does_not_depend_on_its_file(folder, edited):
    for path in (folder, edited):
        model = load_folder(path)
        before = tiny.logits(model, tiny.batch(model))
        weights = path / "model.safetensors"
        weights.write_bytes(b"\xff" * weights.stat().st_size)  # the same file, overwritten in its place
        assert torch.equal(tiny.logits(model, tiny.batch(model)), before)


def test_model_can_be_saved_over_its_own_folder(folder, edited):
    for path in (folder, edited):
        model = load_folder(path)
        before = tiny.logits(model, tiny.batch(model))
        model.save(path)
        assert torch.equal(tiny.logits(load_folder(path), tiny.batch(model)), before)

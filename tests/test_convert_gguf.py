"""The command that turns GGUF files into checkpoints."""

import json

import pytest

import ggufs
from models.test_gguf import gpt2
from niwaki.convert_gguf import convert, main
from niwaki.core.errors import InputError
from niwaki.models.model import load_folder
from niwaki.models.sources import locate


def test_the_folder_has_what_transformers_and_niwaki_load(tmp_path, capsys):
    _, path = gpt2(tmp_path)
    assert main([str(path), str(tmp_path / "model")]) == 0
    assert "tensors" in capsys.readouterr().out
    names = {one.name for one in (tmp_path / "model").iterdir()}
    assert names == {"MANIFEST", "config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    model = load_folder(tmp_path / "model")
    assert model.tokenizer("abcd").input_ids == [14, 3] and model.tokenizer.eos_token == "<end>"
    assert json.loads((tmp_path / "model/tokenizer_config.json").read_text())["model_max_length"] == 40


def test_errors_are_one_line_and_leave_no_folder(tmp_path, capsys):
    (tmp_path / "x.gguf").write_bytes(ggufs.content({"general.architecture": "llama"}, {}))
    assert main([str(tmp_path / "x.gguf"), str(tmp_path / "model")]) == 3
    assert "llama.attention.head_count" in capsys.readouterr().err and not (tmp_path / "model").exists()
    with pytest.raises(InputError, match="is there already"):
        convert(tmp_path / "x.gguf", tmp_path)


def test_loading_such_a_file_names_the_command(tmp_path):
    _, path = gpt2(tmp_path)
    with pytest.raises(InputError, match=r"python -m niwaki.convert_gguf gpt2.gguf FOLDER"):
        locate(str(path))

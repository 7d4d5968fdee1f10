"""The folder layout for other tools: file names, graphs with their weights inside, and equal logits in plain onnxruntime."""

import json
import shutil

import numpy as np
import onnx
import onnxruntime
import pytest
import transformers

import tiny
from niwaki import api
from niwaki.core.errors import InputError
from niwaki.engines.hub_layout import write_hub_layout
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.model import load_folder

TEXTS = [text for text, _ in tiny.sentences(12, seed=3)]
EDITS = {"float": (), "pruned": (Heads(keep=[[0, 2]] * 3),), "int8": (Int8(),), "4 bits": (LowBit(base=16, group=16),)}
PACKED = ("int8", "4 bits")


@pytest.fixture(scope="module", params=EDITS)
def exported(request, tmp_path_factory):
    """The kind of model, and its folders in niwaki's layout and in that for the Hub."""
    place = tmp_path_factory.mktemp("layouts")
    model = tiny.model("bert")
    for edit in EDITS[request.param]:
        model.apply_edit(edit)
    plain, hub = tiny.deployed(model, place / "plain"), place / "hub"
    api.export(plain, "hub", hub)
    return request.param, plain, hub


def test_files_have_the_names_that_other_tools_expect(exported):
    kind, _, hub = exported
    names = {path.relative_to(hub).as_posix() for path in hub.rglob("*") if path.is_file()}
    expected = {
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
        "niwaki.onnx",
        "MANIFEST",
    }
    assert names >= expected | {"onnx/model.onnx"} and "model.onnx" not in names
    assert ("onnx/model_quantized.onnx" in names) == (kind in PACKED)
    config = json.loads((hub / "config.json").read_text())
    assert config["transformers.js_config"] == {"dtype": "fp32"} and config["model_type"] == "bert"


def test_graph_contains_its_weights_and_has_standard_names(exported):
    *_, hub = exported
    graph = onnx.load(hub / "onnx" / "model.onnx", load_external_data=False)
    assert not any(tensor.external_data for tensor in graph.graph.initializer)
    assert [entry.name for entry in graph.graph.input] == ["input_ids", "attention_mask", "token_type_ids"]
    assert [entry.name for entry in graph.graph.output] == ["logits"]
    assert not {entry.domain for entry in graph.opset_import} - {"", "ai.onnx"}


def test_plain_onnxruntime_gives_the_logits_of_niwaki(exported, tmp_path):
    _, plain, hub = exported
    tokenizer = transformers.AutoTokenizer.from_pretrained(hub)
    inputs = dict(tokenizer(TEXTS, padding=True, return_tensors="np"))
    own = Predictor(plain, "onnx")
    expected = own.logits(own.tokenize(TEXTS))
    lone = shutil.copy(hub / "onnx" / "model.onnx", tmp_path / "model.onnx")  # without any other file
    for path in (lone, plain / "model.onnx"):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        np.testing.assert_allclose(session.run(["logits"], inputs)[0], expected, atol=0.02)


@pytest.mark.parametrize("engine", ["native", "onnx", "openvino", "torch"])
def test_niwaki_loads_the_layout_with_every_engine(exported, engine):
    _, plain, hub = exported
    found, expected = (Predictor(folder, engine) for folder in (hub, plain))
    np.testing.assert_array_equal(found.logits(found.tokenize(TEXTS)), expected.logits(expected.tokenize(TEXTS)))


def test_a_model_that_generates_text_is_rejected(tmp_path):
    with pytest.raises(InputError, match="use --to onnx"):
        write_hub_layout(tmp_path)


def test_a_span_model_has_start_and_end_logits(tmp_path):
    folder = tiny.deployed(tiny.model("bert", head="QuestionAnswering"), tmp_path / "span")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = dict(tokenizer(TEXTS[:3], padding=True, return_tensors="np"))
    plain = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    expected = plain.run(["logits"], inputs)[0]
    write_hub_layout(folder)
    session = onnxruntime.InferenceSession(folder / "onnx" / "model.onnx", providers=["CPUExecutionProvider"])
    found = session.run(["start_logits", "end_logits"], inputs)
    np.testing.assert_array_equal(np.stack(found, -1), expected)


def test_a_model_without_head_has_the_files_and_outputs_of_sentence_transformers(tmp_path):
    encoder = tiny.model("bert")
    encoder.network.base_model.save_pretrained(tmp_path / "encoder")
    encoder.tokenizer.save_pretrained(tmp_path / "encoder")
    folder = tiny.deployed(load_folder(tmp_path / "encoder"), tmp_path / "embeddings")
    write_hub_layout(folder)
    modules = json.loads((folder / "modules.json").read_text())
    assert [one["path"] for one in modules][:2] == ["", "1_Pooling"] and (folder / "1_Pooling/config.json").is_file()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = dict(tokenizer(TEXTS[:1], return_tensors="np"))
    session = onnxruntime.InferenceSession(folder / "onnx" / "model.onnx", providers=["CPUExecutionProvider"])
    hidden, embedding = session.run(["last_hidden_state", "sentence_embedding"], inputs)
    np.testing.assert_allclose(hidden.mean(axis=1), embedding, atol=1e-5)
    np.testing.assert_allclose(
        embedding / np.linalg.norm(embedding), Predictor(folder, "onnx").encode(TEXTS[:1]), atol=1e-5
    )

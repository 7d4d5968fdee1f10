"""OpenVINO: 8-bit weights run as integer products, several threads at once, no telemetry, broken files are rejected.

That every family, head and packed form answers as torch does is tested in tests/engines/test_export.py and tests/models/edits."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import pytest
import torch

import tiny
from niwaki import api
from niwaki.core import extras
from niwaki.core.errors import InputError
from niwaki.engines import engine_choice
from niwaki.engines.predictor import Predictor
from niwaki.engines.runtimes import openvino
from niwaki.engines.runtimes.openvino import OpenVino, group_size_for, multiplies_integers
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.static import Static
from niwaki.models.packed.rounding import range_of

TEXTS = [text for text, _ in tiny.sentences(60, seed=4)]
GRAPH = "model.onnx"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.deployed(tiny.model("bert"), tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    return tiny.deployed(edited(Int8()), tmp_path_factory.mktemp("packed"))


def edited(*edits):
    model = tiny.model("bert")
    for edit in edits:
        model.apply_edit(edit)
    return model


def answered(predictor):
    return predictor.logits(predictor.tokenize(TEXTS))


# ── 8 bits ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("widths", "wanted"),
    [([384, 1536], 128), ([100, 384], 64), ([32], 32), ([31, 500], 16), ([8, 384], 128), ([8], 16)],
)
def test_group_size_follows_the_shortest_row(widths, wanted):
    assert group_size_for(widths) == wanted


@pytest.mark.parametrize("edits", [(Int8(),), (LowBit(base=3, group=16),), (LowBit(base=16),)], ids=str)
def test_low_bit_weights_run_as_integer_products(tmp_path, edits):
    """Which shows in what is rounded: with no inputs rounded, what OpenVINO gives is what torch gives."""
    folder = tiny.deployed(edited(*edits), tmp_path / "made")
    runtime, wanted = OpenVino(folder, 1), answered(Predictor(folder, "torch"))
    assert (
        runtime.quantized_products == runtime.integer_products == 18
        if multiplies_integers()
        else runtime.integer_products == 0
    )
    assert "MatMulInteger" not in {node.get_type_name() for node in runtime.compiled.get_runtime_model().get_ops()}
    apart = np.abs(answered(Predictor(folder, "openvino")) - wanted).max() / np.abs(wanted).max()
    assert apart < 0.1 and (apart > 1e-4) == multiplies_integers()


@pytest.mark.parametrize("family", ["bert", "averaging", "cnn", "bilstm"])
def test_static_quantization_runs_as_integer_products(tmp_path, family):
    model = tiny.model(family)
    ranges = {path: range_of(torch.tensor(-4.0), torch.tensor(4.0)) for path in model.anatomy.matrices()}
    model.apply_edit(Static().with_ranges(ranges))
    folder = tiny.deployed(model, tmp_path / "made")
    predictor = Predictor(folder, "openvino")
    found, wanted = answered(predictor), answered(Predictor(folder, "torch"))
    assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()
    nodes = [node.get_rt_info() for node in predictor.runtime.compiled.get_runtime_model().get_ops()]
    products = [
        node["runtimePrecision"].astype(str) for node in nodes if node["layerType"].astype(str) == "FullyConnected"
    ]
    if family == "bert":
        assert products.count("u8") + products.count("i8") == 18, products


def test_float_products_are_reported_in_the_remark(packed, monkeypatch, tmp_path, capsys):
    assert OpenVino(packed, 1).remark == "" or not multiplies_integers()
    monkeypatch.setattr(openvino, "multiplies_integers", lambda: False)
    runtime = OpenVino(packed, 1)
    assert runtime.integer_products == runtime.group_size == 0
    assert runtime.remark.startswith(
        "openvino: 18 of 18 matrices with 8-bit weights are multiplied as floats (this pro"
    )
    found, wanted = (answered(Predictor(packed, engine)) for engine in ("openvino", "torch"))
    np.testing.assert_allclose(found, wanted, atol=1e-3)  # only the weights are rounded
    from niwaki.cli._app import run

    assert run(["export", str(packed), "--to", "openvino", "--out", str(tmp_path / "out")]) == 0
    assert "18 of 18 matrices with 8-bit weights are multiplied as floats" in capsys.readouterr().out


def test_floats_are_not_rounded(folder):
    """Also where the processor has bf16, which OpenVINO would take."""
    found, wanted = (answered(Predictor(folder, engine)) for engine in ("openvino", "torch"))
    np.testing.assert_allclose(found, wanted, atol=1e-5)


# ── threads, batches ────────────────────────────────────────────────────────────────────────────────────────────────


def test_several_threads_run_at_once(packed):
    predictor = Predictor(packed, "openvino", threads=2)
    wanted = answered(predictor)
    with ThreadPoolExecutor(6) as pool:
        for found in pool.map(lambda _: answered(predictor), range(24)):
            np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert predictor.runtime.free.qsize() == 2


@pytest.mark.parametrize("threads", [1, 2])
def test_number_of_threads_is_respected(folder, threads):
    compiled = OpenVino(folder, threads).compiled
    usable = min(threads, len(os.sched_getaffinity(0)))
    assert compiled.get_property("INFERENCE_NUM_THREADS") == usable and compiled.get_property("NUM_STREAMS") == usable
    assert compiled.get_property("INFERENCE_PRECISION_HINT").to_string() == "f32"


def test_lstm_batches_have_no_padding(folder, tmp_path):
    lengths = np.array([5, 3, 5, 7, 3, 3])
    runtime = OpenVino(tiny.deployed(tiny.model("bilstm"), tmp_path / "made"), 1)
    assert sorted(sorted(batch.tolist()) for batch in runtime.batches(lengths)) == [[0, 2], [1, 4, 5], [3]]
    assert len(OpenVino(folder, 1).batches(lengths)) == 1


# ── without it, and with what is broken ─────────────────────────────────────────────────────────────────────────────


def test_missing_package_is_rejected_and_other_engines_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "openvino" else True)
    for call in (
        lambda: api.load(folder, "openvino"),
        lambda: api.export(folder, "openvino", tmp_path / "out"),
        lambda: api.bench([folder], engines=["openvino"], streams=["short"]),
    ):
        with pytest.raises(InputError) as caught:
            call()
        assert str(caught.value) == 'openvino engine: openvino is not installed; pip install "niwaki[openvino]"'
    assert "openvino" not in engine_choice.usable_engines(folder) and api.load(folder).engine in ("onnx", "native")
    assert not (tmp_path / "out").exists()


def test_broken_package_is_left_out_of_the_comparison(folder, monkeypatch, tmp_path):
    def broken():
        raise InputError("openvino engine: cannot be imported (no libtbb)")

    monkeypatch.setattr(openvino, "_core", broken)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert engine_choice.fastest_engine(folder, 1) in ("onnx", "native")
    with pytest.raises(InputError, match="no libtbb"):
        api.load(folder, "openvino")


def spoilt(folder, tmp_path, spoil):
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    model = onnx.load(str(copy / GRAPH), load_external_data=False)
    spoil(model.graph)
    (copy / GRAPH).write_bytes(model.SerializeToString())
    return copy


def _another_size(graph):
    next(table for table in graph.initializer if table.external_data).dims[0] += 1


def _a_dimension_more(graph):
    """The same bytes; OpenVINO would add such a bias beyond the end of its memory."""
    next(table for table in graph.initializer if table.name.endswith("key.bias")).dims.append(1)


def _another_type(graph):
    next(table for table in graph.initializer if table.external_data).data_type = onnx.TensorProto.BFLOAT16


def _no_type(graph):
    next(table for table in graph.initializer if table.external_data).data_type = 99


def _another_input(graph):
    for names in (*(node.input for node in graph.node), [graph.input[0].name]):
        names[:] = ["further" if name == "ids" else name for name in names]
    graph.input[0].name = "further"


def _no_output(graph):
    graph.node[-1].output[0] = "elsewhere"


def _a_circle(graph):
    node = next(node for node in graph.node if node.op_type == "Add")
    node.input[0] = graph.node[-1].output[0]


def _a_result_of_another_size(graph):
    last = graph.node[-1]
    graph.node.append(onnx.helper.make_node("ReduceSum", ["inner"], ["logits"], keepdims=0))
    last.output[0] = "inner"


def _a_shape_that_does_not_fit(graph):
    place = next(n for n, node in enumerate(graph.node) if node.op_type == "MatMul")
    del graph.node[place].input[1]


@pytest.mark.parametrize(
    "spoil",
    [
        _another_size,
        _a_dimension_more,
        _another_type,
        _no_type,
        _another_input,
        _no_output,
        _a_circle,
        _a_shape_that_does_not_fit,
    ],
    ids=lambda spoil: spoil.__name__,
)
def test_broken_graph_is_rejected(folder, tmp_path, spoil):
    with pytest.raises(InputError, match=r"model\.onnx: ") as caught:
        Predictor(spoilt(folder, tmp_path, spoil), "openvino")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 1000


def test_graph_with_another_output_is_rejected_when_it_runs(folder, tmp_path):
    with pytest.raises(InputError, match=r"model\.onnx: gives \(\) for inputs of"):
        Predictor(spoilt(folder, tmp_path, _a_result_of_another_size), "openvino").values(TEXTS)


def test_truncated_and_missing_graphs_are_rejected(folder, tmp_path):
    copy = spoilt(folder, tmp_path, lambda graph: None)
    (copy / GRAPH).write_bytes((copy / GRAPH).read_bytes()[:700])
    with pytest.raises(InputError, match="damaged or cut short"):
        Predictor(copy, "openvino")
    (copy / GRAPH).unlink()
    with pytest.raises(InputError, match=r"has no model\.onnx"):
        Predictor(copy, "openvino")


def test_import_sends_no_telemetry_and_creates_no_files(folder, tmp_path):
    """As it comes, OpenVINO starts a process that sends, and writes a number for the user."""
    code = f"""
import sys
from pathlib import Path
from niwaki.engines.predictor import Predictor
sys.addaudithook(lambda event, given: sys.exit(event) if event.startswith(("socket.connect", "subprocess.")) else None)
print(Predictor(Path({str(folder)!r}), "openvino").values(["a film"]), "openvino_telemetry" in sys.modules)
"""
    saved = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "CI"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**saved, "HOME": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stdout.strip().endswith("False"), done.stderr
    assert list(tmp_path.rglob("*")) == []

"""Sessions of ONNX Runtime."""

import os

import pytest

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.onnx_session import NO_TELEMETRY, input_names, open_session


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.with_graphs(tiny.model("bert", layers=1), tmp_path_factory.mktemp("session") / "model")


def test_a_session_uses_one_thread_and_no_telemetry(folder):
    session = open_session(folder, "model.onnx")
    options = session.get_session_options()
    assert options.intra_op_num_threads == 1 and session.get_providers() == ["CPUExecutionProvider"]
    assert os.environ[NO_TELEMETRY] == "1"


def test_inputs_are_named_in_the_order_of_the_graph(folder):
    assert input_names(open_session(folder, "model.onnx")) == ("input_ids", "attention_mask", "token_type_ids")


def test_a_missing_or_damaged_graph_is_rejected_by_path(folder, tmp_path):
    with pytest.raises(InputError, match=r"model_9\.onnx"):
        open_session(folder, "model_9.onnx")
    damaged = tiny.with_graphs(tiny.model("bert", layers=1), tmp_path / "model")
    (damaged / "model.onnx").write_bytes((damaged / "model.onnx").read_bytes()[:-200])
    with pytest.raises(InputError, match=rf"^{damaged / 'model.onnx'}: ") as caught:
        open_session(damaged, "model.onnx")
    assert "\n" not in str(caught.value)


def test_what_onnx_runtime_rejects_is_one_line(folder, monkeypatch):
    def fail(*given):
        raise RuntimeError("[ONNXRuntimeError] : 1 : FAIL\nsecond line")

    monkeypatch.setattr("niwaki.engines.onnx_session.session_of", fail)
    with pytest.raises(InputError, match=r"cannot be loaded by ONNX Runtime \(\[ONNXRuntimeError\] : 1 : FAIL\)$"):
        open_session(folder, "model.onnx")

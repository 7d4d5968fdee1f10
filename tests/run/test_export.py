"""Exports: what is written answers as its source does, or nothing is written."""

import numpy as np
import pytest
import torch

import tiny
from engines.kinds import model_of, saved
from niwaki import api
from niwaki.core.errors import GateMissed, InputError, UsageError
from niwaki.engines.native.library import best
from niwaki.engines.runtimes.native import Native
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.model import load_folder
from niwaki.run.export import has_floats

pytestmark = pytest.mark.skipif(best() is None, reason="the native engine was not built, or this processor lacks AVX2")
TEXTS = [text for text, _ in tiny.sentences(30, seed=3)]


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    tiny.model("bert").save(folder)
    return folder


@pytest.mark.parametrize("family", ["bert", "roberta", "mpnet", "albert"])
def test_native_is_int8_by_default_and_loads_without_its_source(tmp_path, family):
    (tmp_path / "source").mkdir()
    tiny.model(family).save(tmp_path / "source")
    summary = api.export(
        tmp_path / "source", "native", tmp_path / "out", data=tiny.write_csv(tmp_path / "rows.csv"), tolerance=0.1
    )
    assert summary["int8"] and summary["same_answers"] > 0.85 and summary["bytes"][1] < summary["bytes"][0]
    assert not has_floats(load_folder(tmp_path / "out"))
    found, wanted = (api.load(tmp_path / name, engine) for name, engine in (("out", "native"), ("source", "torch")))
    np.testing.assert_allclose(found.logits(found.tokenize(TEXTS)), wanted.logits(wanted.tokenize(TEXTS)), atol=0.1)


def test_precision_float_keeps_floats(source, tmp_path):
    summary = api.export(source, "native", tmp_path / "out", precision="float")
    assert not summary["int8"] and summary["logits_apart"]["most"] < 1e-4 and summary["same_answers"] == 1.0


@pytest.mark.parametrize("engine", ["onnx", "native"])
def test_numbers_are_answered_as_before_where_only_the_last_bits_differ(tmp_path, engine):
    source = saved(model_of("number"), tmp_path / "source")
    summary = api.export(source, engine, tmp_path / "out", precision="float")
    assert summary["same_answers"] == 1.0


@pytest.mark.parametrize("engine", ["onnx", "openvino", "torch"])
def test_other_engines_keep_the_weights_as_they_are(source, tmp_path, engine):
    summary = api.export(source, engine, tmp_path / "out")
    assert not summary["int8"] and summary["logits_apart"]["most"] < 1e-4
    assert api.load(tmp_path / "out", engine).predict(TEXTS[0])[0].label in ("bad", "good")


def test_what_is_packed_already_is_not_packed_again(tmp_path):
    model = tiny.model("bert")
    model.apply_edit(LowBit(base=16, group=16))
    (tmp_path / "source").mkdir()
    model.save(tmp_path / "source")
    assert not has_floats(model)
    summary = api.export(
        tmp_path / "source", "native", tmp_path / "out", data=tiny.write_csv(tmp_path / "rows.csv"), tolerance=0.1
    )
    assert not summary["int8"]
    assert (tmp_path / "out" / "model.safetensors").read_bytes() == (
        tmp_path / "source" / "model.safetensors"
    ).read_bytes()


def test_a_task_is_the_gate_and_nothing_is_written_where_it_is_missed(tmp_path):
    """Of a matrix with one huge weight per row that no input reads, eight bits keep nothing else."""
    model = tiny.model("bert")
    with torch.no_grad():
        for layer in model.anatomy.layers:
            layer.part("attention_norm").weight[0] = layer.part("attention_norm").bias[0] = 0.0
            layer.part("ffn_in").weight[:, 0] = 1e5
        model.network.classifier.weight *= 20
    (tmp_path / "source").mkdir()
    model.save(tmp_path / "source")
    data, texts = tmp_path / "rows.csv", [text for text, _ in tiny.sentences(400)]
    labels_of_source = api.load(tmp_path / "source", "torch").values(
        texts
    )  # the rows' labels: so that any change is for the worse
    data.write_text(
        "\n".join(["text,label", *(f"{text},{label}" for text, label in zip(texts, labels_of_source, strict=True))])
    )
    with pytest.raises(GateMissed, match="not written") as missed:
        api.export(tmp_path / "source", "native", tmp_path / "out", data=data, tolerance=0.0)
    assert missed.value.exit_code == 4 and "1.0000 before" in str(missed.value)
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == []
    summary = api.export(tmp_path / "source", "native", tmp_path / "out", precision="float", data=data, tolerance=0.0)
    assert summary["scores"] == [1.0, 1.0]


def test_without_a_task_too_many_other_answers_are_rejected(source, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "niwaki.run.export.compare_engines", lambda *given: {"texts": 100, "same_answers": 0.9, "logits_apart": {}}
    )
    with pytest.raises(GateMissed, match=r"90\.0% of 100 texts"):
        api.export(source, "native", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ["native", "onnx"])
def test_a_source_that_predicts_nan_is_rejected_by_name(tmp_path, engine):
    """Two that answer NaN answer alike, and no difference of NaN is too large."""
    model = tiny.model("bert")
    with torch.no_grad():
        model.anatomy.layers[0].part("ffn_out").weight[0, 0] = float("nan")
    (tmp_path / "source").mkdir()
    model.save(tmp_path / "source")
    with pytest.raises(InputError, match=rf"^{tmp_path / 'source'}: its logits are not finite"):
        api.export(tmp_path / "source", engine, tmp_path / "out", precision="float")
    assert not (tmp_path / "out").exists()


def test_an_artifact_that_answers_with_nan_is_not_written(source, tmp_path, monkeypatch):
    real = Native.run
    monkeypatch.setattr(Native, "run", lambda *given, **how: real(*given, **how) * np.float32("nan"))
    with pytest.raises(GateMissed, match=rf"^{tmp_path / 'out'}: not written: its logits are not finite in the native"):
        api.export(source, "native", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_there_is_not_written_over(source, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    with pytest.raises(InputError, match="exists already"):
        api.export(source, "native", tmp_path / "out")


@pytest.mark.parametrize(
    ("given", "match"), [({"to": "tpu"}, "is not an engine"), ({"precision": "int7"}, "int8 or float")]
)
def test_unknown_words_are_named(source, tmp_path, given, match):
    with pytest.raises(UsageError, match=match):
        api.export(source, given.get("to", "native"), tmp_path / "out", precision=given.get("precision", ""))


def test_a_model_that_the_engine_cannot_run_is_rejected_in_one_line(tmp_path):
    (tmp_path / "source").mkdir()
    tiny.model("averaging").save(tmp_path / "source")
    with pytest.raises(InputError, match="runs encoders with attention"):
        api.export(tmp_path / "source", "native", tmp_path / "out")


@pytest.mark.parametrize(
    ("head", "labels", "match"),
    [
        ("SequenceClassification", ["awful", "nice"], "its labels are .*; choose the task it was made for"),
        ("TokenClassification", ["bad", "good"], "answers with a tags, the task wants a label"),
    ],
)
def test_rows_of_another_task_are_rejected(tmp_path, head, labels, match):
    """Passed over, they would be no gate at all."""
    model = tiny.model("bert", head=head, labels=labels)
    if head == "TokenClassification":
        model.network.config.niwaki_answer = {"kind": "tags"}
    (tmp_path / "source").mkdir()
    model.save(tmp_path / "source")
    with pytest.raises(InputError, match=match):
        api.export(tmp_path / "source", "onnx", tmp_path / "out", data=tiny.write_csv(tmp_path / "rows.csv"))
    assert not (tmp_path / "out").exists()

"""Encoders without a head, of every family: embeddings equal transformers' pooled states, through saving, editing and export."""

import numpy as np
import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import forward, run_padded
from niwaki.models.model import Model, load_folder
from niwaki.models.networks.bare_encoder import architecture_name
from niwaki.models.skeleton import FEATURE_EXTRACTION, build

TEXTS = [text for text, _ in tiny.sentences(12)]


def bare(family: str = "bert", **more: object) -> Model:
    model = tiny.model(family, head=FEATURE_EXTRACTION, **more)
    model.network.config.architectures = [architecture_name(model.network)]
    return model


@pytest.mark.parametrize("family", tiny.FAMILIES)
@torch.no_grad()
def test_embeddings_are_the_mean_of_transformers_hidden_states(family, tmp_path):
    model = bare(family)
    batch = tiny.batch(model, pairs=True)
    hidden, real = model.network.eval()(**batch.inputs).last_hidden_state, batch.mask[..., None]
    wanted = (hidden * real).sum(dim=1) / real.sum(dim=1)
    torch.testing.assert_close(run_padded(model.anatomy, batch.inputs), wanted, atol=1e-5, rtol=0)
    torch.testing.assert_close(forward(model.anatomy, batch).logits, wanted, atol=1e-5, rtol=0)
    assert architecture_name(model.network).endswith("Model") and not any(
        "pooler" in name for name in model.network.state_dict()
    )
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert again.labels == [] and torch.equal(
        forward(again.anatomy, batch).logits, forward(model.anatomy, batch).logits
    )


@pytest.mark.parametrize(
    "edits", [[], [HiddenSize(keep=list(range(28))), Ffn(keep=[8, 9, 10])], [Int8()]], ids=["whole", "cut", "int8"]
)
@pytest.mark.parametrize("mode", ["mean", "cls"])
def test_engines_agree_on_embeddings(tmp_path, mode, edits):
    model = bare(niwaki_pooling={"mode": mode, "normalize": True})
    for edit in edits:
        model.apply_edit(edit)
    tiny.deployed(model, tmp_path)
    assert not (tmp_path / "native.json").exists()
    found = {engine: Predictor(tmp_path, engine).encode(TEXTS) for engine in ("onnx", "torch", "openvino")}
    for vectors in found.values():
        assert vectors.shape == (12, model.anatomy.hidden_size) and vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        assert ((vectors * found["torch"]).sum(axis=1) > (0.97 if edits == [Int8()] else 0.99999)).all()
    assert Predictor(tmp_path).encode([]).shape == (0, model.anatomy.hidden_size)


def test_the_graph_also_gives_the_last_hidden_states(tmp_path):
    import onnxruntime

    model = bare()
    tiny.deployed(model, tmp_path)
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    assert [one.name for one in session.get_outputs()] == ["sentence_embedding", "last_hidden_state"]
    batch = tiny.batch(model)
    _, tokens = session.run(None, {name: x.numpy() for name, x in batch.inputs.items()})
    wanted = model.network.eval()(**batch.inputs).last_hidden_state.detach()
    real = batch.mask.bool()
    torch.testing.assert_close(torch.tensor(tokens)[real], wanted[real], atol=1e-4, rtol=0)


def test_a_task_head_can_be_put_on_a_saved_encoder(tmp_path):
    from niwaki.models.head import Head

    model = bare()
    model.save(tmp_path)
    found = load_folder(tmp_path, Head(["a", "b", "c"]))
    assert found.labels == ["a", "b", "c"] and found.anatomy.head.architecture == "SequenceClassification"
    name = "bert.encoder.layer.0.attention.self.query.weight"
    assert torch.equal(found.network.state_dict()[name], model.network.state_dict()[name])


@pytest.mark.parametrize("family", ["cnn", "bart"])
def test_families_without_a_bare_encoder_are_rejected(family):
    config = {**tiny.config("bert", 1, 32, 4, 64, ["a"], FEATURE_EXTRACTION), "model_type": family}
    with pytest.raises(InputError, match=f"family '{family}' has no"):
        build(config)

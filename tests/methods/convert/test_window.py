"""Attention limited to windows."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.methods.convert.fourier import Fourier
from niwaki.methods.convert.window import Window
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.int8 import Int8
from niwaki.models.forward import forward
from niwaki.models.model import Model, load_folder

FAMILIES = ("bert", "mpnet", "distilbert", "albert")


@torch.no_grad()
def outputs(model: Model, batch) -> torch.Tensor:
    model.network.eval()
    return forward(model.anatomy, batch).logits


@pytest.mark.parametrize("family", FAMILIES)
def test_a_window_over_the_whole_text_changes_nothing(family):
    model = tiny.model(family)
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    found = outputs(Window(window=100).dry_prepare(model), batch)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


def test_heads_of_different_number_keep_their_sizes():
    model = tiny.model("bert")
    model.apply_edit(Heads(keep=[[2], [0, 1, 2, 3], [0, 3]]))
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    torch.testing.assert_close(outputs(Window().dry_prepare(model), batch), wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_it_is_quantized_saved_loaded_and_exported(family, tmp_path):
    """A small window, so that the graph has several blocks."""
    model = Window(window=2, layers=[0, 2]).dry_prepare(tiny.model(family))
    plain = outputs(model, tiny.batch(model))
    assert not torch.allclose(plain, outputs(tiny.model(family), tiny.batch(model)), atol=1e-4)
    model.apply_edit(Int8())
    model.save(tmp_path)
    write_graph(model, tmp_path)
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    assert torch.equal(outputs(load_folder(tmp_path), batch), wanted)
    arrays = {name: value.numpy() for name, value in batch.inputs.items()}
    torch.testing.assert_close(torch.from_numpy(Onnx(tmp_path, 1).logits(arrays)), wanted, atol=0.05, rtol=0)


def test_layers_without_attention_are_rejected():
    model = Fourier(attention_layers=1).dry_prepare(tiny.model("bert"))
    with pytest.raises(InputError, match="layer 0 has no attention"):
        Window().dry_prepare(model)


def test_pruned_heads_with_relative_positions_are_rejected():
    model = tiny.model("mpnet")
    model.apply_edit(Heads(keep=[[2], [0, 1], [0, 3]]))
    with pytest.raises(InputError, match="name 'window' before 'heads'"):
        Window().dry_prepare(model)


def test_attention_with_rotary_positions_is_rejected():
    with pytest.raises(InputError, match="only plain attention is converted"):
        Window().dry_prepare(tiny.model("roformer"))

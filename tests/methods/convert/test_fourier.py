"""Attention replaced by Fourier mixing."""

import pytest
import torch

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.export import write_graph
from niwaki.engines.runtimes.onnx import Onnx
from niwaki.methods.convert.fourier import Fourier
from niwaki.models.forward import forward
from niwaki.models.model import Model, load_folder


@torch.no_grad()
def outputs(model: Model, batch) -> torch.Tensor:
    model.network.eval()
    return forward(model.anatomy, batch).logits


def test_the_first_layers_lose_their_attention():
    model = tiny.model("bert")
    before = model.parameters()
    converted = Fourier(attention_layers=1).dry_prepare(model)
    assert [layer.mixer.label() for layer in converted.anatomy.layers] == ["fourier", "fourier", "attention"]
    hidden = converted.anatomy.hidden_size
    assert before - converted.parameters() == 2 * 4 * (hidden * hidden + hidden)


def test_it_is_saved_loaded_and_exported(tmp_path):
    model = Fourier(attention_layers=1).dry_prepare(tiny.model("bert"))
    model.save(tmp_path)
    write_graph(model, tmp_path)
    batch = tiny.batch(model)
    wanted = outputs(model, batch)
    assert torch.equal(outputs(load_folder(tmp_path), batch), wanted)
    arrays = {name: value.numpy() for name, value in batch.inputs.items()}
    torch.testing.assert_close(torch.from_numpy(Onnx(tmp_path, 1).logits(arrays)), wanted, atol=1e-4, rtol=0)


def test_no_layer_to_convert_is_rejected():
    with pytest.raises(InputError, match="attention_layers is 3 and the model has 3 layers"):
        Fourier(attention_layers=3).dry_prepare(tiny.model("bert"))

"""Patches: the matrix on their pixels is the convolution of checkpoints."""

import torch
from torch import nn

import tiny
from niwaki.models.adapting import published
from niwaki.models.patches import Patches, cut


def test_the_matrix_is_the_convolution():
    """Also where the sides are no multiple of those of a patch."""
    torch.manual_seed(0)
    convolution = nn.Conv2d(2, 7, (3, 4), stride=(3, 4))
    pixels = torch.randn(3, 2, 10, 9)
    torch.testing.assert_close(Patches(convolution)(pixels), convolution(pixels).flatten(2).transpose(1, 2))


def test_patches_are_cut_row_by_row():
    pixels = torch.arange(16.0).reshape(1, 1, 4, 4)
    assert cut(pixels, (2, 2))[0].tolist() == [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]


def test_tensors_have_the_names_and_shapes_of_checkpoints():
    model = tiny.model("deit")
    found = published(model.network, model.anatomy.family, model.network.state_dict())
    assert found["deit.embeddings.patch_embeddings.projection.weight"].shape == (32, 1, 4, 4)
    assert found["deit.embeddings.position_embeddings"].shape == (1, 6, 32)
    assert found["deit.embeddings.distillation_token"].shape == (1, 1, 32)
    assert "deit.encoder.layer.2.attention.attention.query.weight" in found
    assert "deit.encoder.layer.0.intermediate.dense.bias" in found and not any(".layers." in name for name in found)

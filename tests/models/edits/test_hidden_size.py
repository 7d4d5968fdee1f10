"""Smaller hidden sizes."""

import tiny
from niwaki.models.edits.hidden_size import HiddenSize


def test_hidden_size_that_heads_do_not_divide_needs_a_blueprint():
    model = tiny.model("bert")
    model.apply_edit(HiddenSize(keep=list(range(30))))
    assert [edit.label() for edit in model.blueprint.edits] == ["hidden_size"]


def test_frozen_parameters_stay_frozen():
    model = tiny.model("bert")
    model.anatomy.trunk.embeddings.requires_grad_(False)
    model.apply_edit(HiddenSize(keep=list(range(16))))
    assert not any(parameter.requires_grad for parameter in model.anatomy.trunk.embeddings.parameters())
    assert all(parameter.requires_grad for parameter in model.anatomy.layers[0].module.parameters())

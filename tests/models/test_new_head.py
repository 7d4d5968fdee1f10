"""A new head on an edited model: the trunk stays bit by bit, the head is random, and the shape is known before loading."""

import pytest
import torch

import tiny
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.replace_part import ReplacePart
from niwaki.models.forward import forward
from niwaki.models.head import Head
from niwaki.models.model import has_head, load_folder, skeleton_of
from niwaki.models.ties import unique_tensors

THREE = Head(
    ["contradiction", "neutral", "entailment"], answer={"kind": "label"}, problem="single_label_classification"
)
TAGS = Head(["O", "B", "I"], "TokenClassification", answer={"kind": "tags"})


def saved(family, folder, pooled=True):
    """A model with a cut feed-forward block, and by default another head."""
    model = tiny.model(family)
    model.apply_edit(Ffn(keep=[[0, 5, 9], list(range(64)), list(range(40))]))
    if pooled:
        model.apply_edit(ReplacePart(slot="head", part="pooled"))
    model.save(folder)
    return model


@pytest.mark.parametrize("head", [THREE, TAGS], ids=["three labels", "tags"])
@pytest.mark.parametrize("pooled", [True, False], ids=["pooled", "own head"])
@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_the_trunk_stays_and_the_head_is_new(family, pooled, head, tmp_path):
    before = saved(family, tmp_path, pooled)
    found = load_folder(tmp_path, head)
    trunk, new = before.anatomy.trunk.state_dict(), found.anatomy.trunk.state_dict()
    assert all(torch.equal(value, trunk[name]) for name, value in new.items() if "pooler" not in name)
    assert found.labels == head.labels and found.anatomy.head.architecture == head.architecture
    batch = tiny.batch(found)
    logits = forward(found.anatomy, batch).logits
    assert logits.shape[-1] == 3 and torch.isfinite(logits).all() and logits.std() > 0
    shape = {name: value.shape for name, value in unique_tensors(found.network).items()}
    assert {name: value.shape for name, value in unique_tensors(skeleton_of(tmp_path, head).network).items()} == shape
    assert not has_head(tmp_path, head)
    again = tmp_path / "again"
    again.mkdir()
    found.save(again)
    assert torch.equal(forward(load_folder(again).anatomy, batch).logits, logits)


def test_a_head_that_fits_the_task_stays(tmp_path):
    before = saved("bert", tmp_path)
    head = Head(tiny.LABELS, answer={"kind": "label"})
    found = load_folder(tmp_path, head)
    assert has_head(tmp_path, head) and found.anatomy.head.label() == "pooled"
    batch = tiny.batch(found)
    assert torch.equal(forward(found.anatomy, batch).logits, forward(before.anatomy, batch).logits)

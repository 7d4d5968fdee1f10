"""Networks stored without their zeros: every family, over other forms, saved, exported and cut."""

from functools import partial

import numpy as np
import pytest
import torch

import tiny
from niwaki.answers.label import Label
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.models.edits.ffn import Ffn
from niwaki.models.edits.heads import Heads
from niwaki.models.edits.hidden_size import HiddenSize
from niwaki.models.edits.int8 import Int8
from niwaki.models.edits.low_bit import LowBit
from niwaki.models.edits.share import Share
from niwaki.models.edits.sparse import Sparse
from niwaki.models.forward import run_padded
from niwaki.models.model import load_folder
from niwaki.models.module_paths import SharedReplacement, to_dense
from niwaki.models.packed.sparse import Sparse as Store
from niwaki.models.stock import WEIGHTS

TEXTS = [text for text, _ in tiny.sentences(12, seed=5)]
FORMS = {"floats": [], "int8": [Int8(embeddings=False)], "digits": [LowBit(base=16, group=8, table=False)]}


def masks_of(model, share: float = 0.5) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    found = {}
    for path in model.anatomy.matrices():
        module = model.network.get_submodule(path)
        if hasattr(module, "in_features"):
            found[path] = torch.rand(module.out_features, module.in_features, generator=generator) < share
    return found


def sparse_model(family: str, form: str = "floats"):
    """Together with the answers of the same model, unpacked, whose weights were set to 0."""
    model = tiny.model(family)
    for edit in FORMS[form]:
        model.apply_edit(edit)
    masks = masks_of(model)
    by_hand = model.clone()
    once = SharedReplacement()
    for path in masks:
        by_hand.network.set_submodule(
            path, once(by_hand.network.get_submodule(path), partial(zeroed, mask=masks[path]))
        )
    model.apply_edit(Sparse().with_masks(masks))
    return model, tiny.logits(by_hand, tiny.batch(model))


def zeroed(module, mask: torch.Tensor):
    floats = to_dense(module)
    with torch.no_grad():
        floats.weight.mul_(mask)
    return floats


@pytest.mark.parametrize("family", [*tiny.FAMILIES, *tiny.READERS])
def test_every_family_gives_what_it_gives_with_those_weights_zero(family, tmp_path):
    model, wanted = sparse_model(family)
    batch = tiny.batch(model)
    found = tiny.logits(model, batch)
    torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)
    with torch.no_grad():
        lean = run_padded(model.anatomy, batch.inputs)
    torch.testing.assert_close(lean, found, atol=1e-5, rtol=0)
    stores = [module for module in model.network.modules() if isinstance(module, Store)]
    assert stores and all(0.4 < (store() != 0).float().mean() < 0.6 for store in stores)
    model.save(tmp_path)
    again = load_folder(tmp_path)
    assert torch.equal(tiny.logits(again, batch), found) and again.parameters() == model.parameters()


@pytest.mark.parametrize("form, apart", [("int8", 0.02), ("digits", 0.2)])
def test_values_keep_the_form_that_they_have(form, apart, tmp_path):
    model, wanted = sparse_model("bert", form)
    bases = {module.base for module in model.network.modules() if isinstance(module, Store)}
    assert bases == {255 if form == "int8" else 16}
    found = tiny.logits(model, tiny.batch(model))
    assert (found - wanted).abs().max() < apart * wanted.abs().max()
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), tiny.batch(model)), found)


@pytest.mark.parametrize(
    "family, form",
    [
        ("bert", "floats"),
        ("albert", "floats"),
        ("mpnet", "floats"),
        ("cnn", "floats"),
        ("bilstm", "floats"),
        ("bert", "int8"),
        ("bert", "digits"),
    ],
)
def test_the_engine_gives_what_torch_gives(family, form, tmp_path):
    model, _ = sparse_model(family, form)
    model.save(tmp_path)
    write_graph(model, tmp_path)
    found, wanted = (
        predictor.logits(Label().encode(TEXTS, predictor.encoder.tokenizer, 60))
        for predictor in (Predictor(tmp_path, "onnx", threads=1), Predictor(tmp_path, "torch", threads=1))
    )
    assert wanted.std() > 0.02
    np.testing.assert_allclose(found, wanted, atol=1e-4 if form == "floats" else 0.15 * np.abs(wanted).max())


def test_without_masks_the_zeros_there_are_go_and_the_file_shrinks(tmp_path):
    model = tiny.model("bert", width=64, ffn=256)
    (tmp_path / "before").mkdir()
    model.save(tmp_path / "before")
    with torch.no_grad():
        for path in model.anatomy.matrices():
            model.network.get_submodule(path).weight[:, ::2] = 0
    before = tiny.logits(model, tiny.batch(model))
    numbers = sum(model.network.get_submodule(path).weight.numel() for path in model.anatomy.matrices())
    model.apply_edit(Sparse())
    model.save(tmp_path)
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), before)
    saved = (tmp_path / "before" / WEIGHTS).stat().st_size - (tmp_path / WEIGHTS).stat().st_size
    assert saved == pytest.approx(numbers * (4 - 2 - 1 / 8), abs=6000)  # longer names in the header


def test_sparse_matrices_are_cut_like_others(tmp_path):
    model, _ = sparse_model("bert")
    floats = model.clone()
    for path in list(floats.anatomy.matrices()):
        floats.network.set_submodule(path, to_dense(floats.network.get_submodule(path)))
    for edit in (Heads(keep=[[1, 3]] * 3), Ffn(keep=[[*range(0, 64, 2)]] * 3), HiddenSize(keep=[*range(28)])):
        for one in (model, floats):
            edit.apply(one.network, one.anatomy)
    torch.testing.assert_close(tiny.logits(model, tiny.batch(model)), tiny.logits(floats, tiny.batch(model)))
    assert all(isinstance(model.network.get_submodule(path).store, Store) for path in model.anatomy.matrices())


def test_shared_matrices_stay_shared():
    model = tiny.model("bert")
    model.apply_edit(Share(of=[0, 0, 2]))
    model.apply_edit(Sparse())
    first, second, third = (layer.part("query") for layer in model.anatomy.layers)
    assert first is second and first is not third


def test_sparse_twice_is_sparse_once(tmp_path):
    model, _ = sparse_model("bert")
    before = tiny.logits(model, tiny.batch(model))
    model.apply_edit(Sparse())
    model.save(tmp_path)
    assert torch.equal(tiny.logits(load_folder(tmp_path), tiny.batch(model)), before)


def test_int8_after_sparse_packs_the_values_and_keeps_the_zeros(tmp_path):
    model = tiny.model("bert")
    masks = masks_of(model)
    model.apply_edit(Sparse().with_masks(masks))
    batch = tiny.batch(model)
    before = tiny.logits(model, batch)
    model.apply_edit(Int8())
    for path, mask in masks.items():
        store = model.network.get_submodule(path).store
        assert store.base == 255 and not store()[~mask].any() and store()[mask].count_nonzero() > 0.9 * mask.sum()
    model.save(tmp_path)
    after = tiny.logits(model, batch)
    assert torch.equal(tiny.logits(load_folder(tmp_path), batch), after)
    torch.testing.assert_close(after, before, atol=0.05, rtol=0)

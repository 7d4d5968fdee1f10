"""Where models come from: folders, the embedded model, the hub."""

import json

import pytest
import torch

from niwaki.core.errors import InputError
from niwaki.models import sources
from niwaki.models.forward import run_padded
from niwaki.models.head import Head


def test_unknown_sources_are_rejected(folder, monkeypatch):
    assert sources.locate(str(folder)) == folder
    for name in ("no-such", "./no/such", "/no/such", "a/b/c"):
        with pytest.raises(InputError, match="is neither an embedded model"):
            sources.locate(name)
    with pytest.raises(InputError, match=r"could not be fetched.*give a folder instead"):
        sources.locate("nobody/nothing")


def test_embedded_model_is_found():
    folder = sources.locate("minilm")
    assert json.loads((folder / "config.json").read_text())["num_hidden_layers"] == 6


@torch.no_grad()
def test_embedded_model_with_a_new_head_matches_transformers():
    torch.manual_seed(0)
    model = sources.load("minilm", Head(["negative", "positive"]))
    assert (model.labels, len(model.anatomy.layers), model.anatomy.hidden_size) == (["negative", "positive"], 6, 384)
    inputs = model.tokenizer(["a film to see twice", "no"], padding=True, return_tensors="pt")
    found = run_padded(model.anatomy, inputs)
    torch.testing.assert_close(found, model.network(**inputs).logits, atol=1e-4, rtol=0)

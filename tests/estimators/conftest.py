import numpy as np
import pytest
import torch

import tiny
from niwaki.estimators import Classifier

RECIPE = """
model = "minilm"
task = "classification"

[[stages]]
name = "tuned"
train = { epochs = 15, lr = 5e-3, batch = 8 }

[[stages]]
name = "int8"
methods = [{ use = "int8" }]
"""


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tiny matrices gain nothing from more threads, which other tests use."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def settings(tmp_path_factory) -> dict[str, str]:
    """A tiny model, and a recipe that takes a second."""
    folder = tmp_path_factory.mktemp("estimators")
    model, recipe = folder / "model", folder / "quick.toml"
    model.mkdir()
    tiny.model(layers=1).save(model)
    recipe.write_text(RECIPE)
    return {"model": str(model), "method": str(recipe)}


@pytest.fixture(scope="session")
def rows() -> tuple[list[str], np.ndarray]:
    found = tiny.sentences(160)
    return [text for text, _ in found], np.array([label for _, label in found])


@pytest.fixture(scope="session")
def fitted(settings, rows) -> Classifier:
    texts, labels = rows
    return Classifier(**settings).fit(texts[:120], labels[:120])

"""The graph of a head folder: weights of trunk and head by path."""

import numpy as np
import onnx
import pytest
from safetensors.torch import save_file

import tiny
from niwaki.core.head_folder import HEAD_WEIGHTS, HEADS, WEIGHTS
from niwaki.engines.graph_rules import EXTERNAL, GRAPH
from niwaki.engines.head_graph import write_head_graph
from niwaki.engines.onnx_session import session_of
from niwaki.models.trunk import is_of_head


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A model, and its folder with a head `other` that was written elsewhere and moved into its place."""
    model = tiny.model("bert", layers=1)
    trunk, head = tmp_path_factory.mktemp("trunk") / "model", tmp_path_factory.mktemp("head")
    trunk.mkdir()
    model.save(trunk)
    state = {name: value for name, value in model.network.state_dict().items() if is_of_head(name, "bert")}
    save_file(state, head / HEAD_WEIGHTS, metadata={"format": "pt"})
    write_head_graph(model, trunk, head, "other")
    (trunk / HEADS).mkdir()
    head.rename(trunk / HEADS / "other")
    return model, trunk


def test_weights_are_where_they_are_stored(written):
    _, trunk = written
    graph = onnx.load(str(trunk / HEADS / "other" / GRAPH), load_external_data=False).graph
    outside = [table for table in graph.initializer if table.data_location == EXTERNAL]
    places = {next(one.value for one in table.external_data if one.key == "location") for table in outside}
    assert places == {WEIGHTS, f"{HEADS}/other/{HEAD_WEIGHTS}"}
    of_head = {
        table.name
        for table in outside
        if any(one.key == "location" and HEAD_WEIGHTS in one.value for one in table.external_data)
    }
    assert of_head and all(is_of_head(name.removeprefix("network."), "bert") for name in of_head)


def test_the_graph_runs_from_the_models_folder(written):
    model, trunk = written
    graph = (trunk / HEADS / "other" / GRAPH).read_bytes()
    batch = tiny.batch(model)
    inputs = {name: value.numpy() for name, value in batch.inputs.items()}
    (found,) = session_of(graph, str(trunk)).run(None, inputs)
    np.testing.assert_allclose(found, tiny.logits(model, batch).numpy(), atol=1e-5)
    assert len(graph) < 60_000  # without weights

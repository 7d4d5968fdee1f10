"""The BiLSTM written out with torch's own layers, and its graph."""

import onnx
import pytest
import torch

import tiny
from models.networks.test_lstm import by_torch
from niwaki.core.tensor_file import read_header
from niwaki.engines.export import GRAPH, write_graph
from niwaki.models.edits.int8 import Int8


@torch.no_grad()
def test_the_whole_network_written_out_with_torch():
    """Two layers, a pair of texts: largest and mean of the states of each text, compared, a hidden layer, logits."""
    model = tiny.model("bilstm", layers=2)
    network, batch = model.network, tiny.batch(model, pairs=True)
    layers = [by_torch(layer) for layer in network.body.lstm]
    for ids, mask, wanted in zip(batch.inputs["input_ids"], batch.mask, tiny.logits(model, batch), strict=True):
        ids = ids[: int(mask.sum())]
        states = network.body.embeddings.word_embeddings(ids)[None]
        for layer in layers:
            states = layer(states)[0]
        cut = ids.tolist().index(model.tokenizer.sep_token_id) + 1
        one, two = (
            torch.cat([part.max(dim=0).values, part.mean(dim=0)]) for part in (states[0, :cut], states[0, cut:])
        )
        seen = torch.cat([one, two, (one - two).abs(), one * two])
        found = network.classifier(torch.relu(network.hidden[0](seen)))
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=0)


@pytest.mark.parametrize("packed", [False, True])
def test_the_graph_has_one_node_a_layer_and_reads_the_weights_where_they_are_saved(tmp_path, packed):
    model = tiny.model("bilstm", layers=2)
    if packed:
        model.apply_edit(Int8())
    model.save(tmp_path)
    write_graph(model, tmp_path)
    graph = onnx.load(str(tmp_path / GRAPH), load_external_data=False).graph
    assert [node.op_type for node in graph.node].count("LSTM") == 2
    outside = {entry.name for entry in graph.initializer if entry.data_location == 1}
    of_lstm = {f"network.{name}" for name in read_header(tmp_path / "model.safetensors").tensors if ".lstm." in name}
    assert of_lstm <= outside and len(of_lstm) == 2 * (5 if packed else 3)

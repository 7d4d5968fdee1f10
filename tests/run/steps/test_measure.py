"""Parity between the engine and torch."""

import torch

import tiny
from niwaki.engines.export import write_graph
from niwaki.engines.predictor import Predictor
from niwaki.models.model import load_folder
from niwaki.run.steps.measure import parity


def test_parity_is_rounding_error_for_the_saved_model_and_large_for_another(tmp_path):
    model = tiny.model("bert")
    model.save(tmp_path)
    write_graph(model, tmp_path)
    predictor = Predictor(tmp_path)
    rows = predictor.tokenize(["a film", "the plot of a good film", "good", "a film with a plot and no end"])
    assert parity(predictor, rows) < 1e-4
    other = load_folder(tmp_path)
    with torch.no_grad():
        for parameter in other.network.parameters():
            parameter.mul_(1.5)
    other.save(tmp_path)  # the graph, which the predictor has loaded, stays that of the first
    assert parity(predictor, rows) > 1e-2

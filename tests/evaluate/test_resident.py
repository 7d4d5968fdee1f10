"""Memory of a loaded model, measured in a process of its own."""

import tiny
from niwaki.engines.export import write_graph
from niwaki.evaluate.resident import resident_bytes


def test_a_larger_model_takes_more_and_what_cannot_be_loaded_is_unknown(tmp_path):
    found = []
    for number, width in enumerate((32, 1024)):
        folder = tmp_path / str(number)
        folder.mkdir()
        model = tiny.model("bert", layers=2, width=width, ffn=2 * width)
        model.save(folder)
        write_graph(model, folder)
        found.append(resident_bytes(folder))
    weights = (tmp_path / "1" / "model.safetensors").stat().st_size
    assert weights > 60e6
    assert found[1] - found[0] > 0.5 * weights  # the rest may be mapped and not yet read
    assert resident_bytes(tmp_path / "2") is None

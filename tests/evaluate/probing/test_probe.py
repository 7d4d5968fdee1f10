import pytest

import tiny
from evaluate.probes.sentences import sentences
from niwaki.core.errors import InputError
from niwaki.evaluate.probing.probe import compare, probe, table


def broken():
    raise InputError("is damaged")


@pytest.fixture(scope="module")
def found():
    models = {
        "one": lambda: tiny.model("bert", layers=1),
        "same": lambda: tiny.model("bert", layers=1),
        "broken": broken,
    }
    return probe(models, sentences(120), ["part_of_speech", "tree_depth", "senses"], 240, 0)


def test_models_are_measured_on_the_same_examples(found):
    speech = found["probes"]["part_of_speech"]
    assert speech["train"] == 168 and speech["labels"] == 6 and 0.1 < speech["majority"] < 0.5
    one, same = speech["models"]["one"], speech["models"]["same"]
    assert one["layers"] == same["layers"] and same["difference"]["value"] == 0
    assert one["best"] == min((0, 1), key=lambda layer: one["layers"][layer]["bits"])
    for layer in one["layers"]:
        low, value, high = (layer["accuracy"][key] for key in ("low", "value", "high"))
        assert low <= value <= high and layer["selectivity"]["value"] == pytest.approx(value - layer["control"])
    assert one["layers"][0]["accuracy"]["value"] > 0.95  # the words decide it


def test_what_fails_is_named_and_the_rest_goes_on(found):
    assert found["failed"] == {"broken": "is damaged"} and "not probed: broken (is damaged)" in table(found)
    with pytest.raises(InputError, match="broken: is damaged"):
        probe({"broken": broken}, sentences(60), ["part_of_speech"], 200, 0)
    with pytest.raises(InputError, match="allow no probe"):
        probe({"broken": broken}, [{"tokens": ["a"]}] * 50, ["tree_depth"], 200, 0)


def test_the_table_has_a_line_for_each_model(found):
    lines = table(found).splitlines()
    assert lines[0].startswith("probe") and len([line for line in lines if " same " in line]) == len(found["probes"])
    assert "+0.0 (+0.0 to +0.0)" in table(found)
    compare({}, {})

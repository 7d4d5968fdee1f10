"""Programs that generate texts are untrusted data: a changed one is rejected, or runs within its tensors."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from engines.native.test_program_parts import ODD, places
from niwaki.answers._beam_search import SearchSettings
from niwaki.core.errors import InputError
from niwaki.engines.native.decoder_program import TextProgram
from niwaki.engines.native.generator import Generator
from niwaki.engines.native.library import best
from niwaki.engines.native.program_file import DIGESTS, PROGRAM, read_program, tensors_of, write_program
from niwaki.models.edits.int8 import Int8
from seq2seq import seq2seq_model

pytestmark = pytest.mark.skipif(best() is None, reason="the native engine was not built, or this processor lacks AVX2")
IDS = np.array([5, 6, 7, 8])
HOW = SearchSettings(beam=2, max_new_tokens=4)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    model, folder = seq2seq_model("bert", layers=1), tmp_path_factory.mktemp("texts")
    model.apply_edit(Int8())
    model.save(folder)
    assert write_program(model, folder) is None
    program = json.loads((folder / PROGRAM).read_text())
    del program[DIGESTS]
    return folder, program, dict(tensors_of(folder))


def generated(program, tensors):
    network = Generator(TextProgram(**program), tensors, "here")
    return network.generate(IDS, IDS * 0, np.array([3, 1]), HOW)


def test_a_saved_program_is_read_as_one_that_generates(saved):
    folder, program, _ = saved
    read, tensors = read_program(folder)
    assert isinstance(read, TextProgram) and read.model_dump(exclude_none=True)["decoder"]["layers"]
    assert np.array_equal(generated(program, tensors), generated(json.loads(json.dumps(program)), tensors))


@settings(max_examples=150, deadline=None)
@given(data=some.data())
def test_a_changed_program_is_rejected_or_runs_safely(saved, data):
    _, program, tensors = saved
    changed = copy.deepcopy(program)
    for _ in range(data.draw(some.integers(1, 3))):
        path = data.draw(some.sampled_from(sorted((("decoder", *p) for p in places(changed["decoder"]) if p), key=str)))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        drawn = data.draw(some.one_of(ODD, some.sampled_from([program["tokens"], *tensors])))
        holder[path[-1]] = copy.deepcopy(drawn)  # the next change may be inside of it
        if not isinstance(changed.get("decoder"), dict):
            break
    try:
        found = generated(changed, tensors)
    except (InputError, ValueError, OverflowError, TypeError):
        return
    assert found.shape == (2, 5)


def changed(program, path, value):
    found = copy.deepcopy(program)
    holder = found
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return found


def test_parts_that_do_not_fit_are_named(saved):
    _, program, tensors = saved
    layer = program["decoder"]["layers"][0]
    relative = {"table": "x", "rows": [0], "heads": [0]}
    for path, value, message in (
        (("output",), [layer["ffn"]["up"][0]], "decoder: outputs"),
        (("positions",), layer["ffn"]["down"][0]["weight"], "decoder: the width of positions"),
        (("skipped_positions",), 60_000, "of which 60000 are skipped"),
        (("layers", 0, "cross", "attention", "heads"), 3, "decoder layer 0: query: outputs|outputs of query"),
        (("layers", 0, "own", "attention", "relative"), relative, "heads of relative"),
        (("layers", 0, "cross", "attention", "relative"), relative, "no relative positions"),
        (("layers", 0, "own", "attention", "window"), {"tokens": 3}, "no windows"),
        (("output_scale",), 0.5, "a scale of outputs, and no norm"),
    ):
        with pytest.raises(InputError, match=f"^here: .*({message}).*; save or export the model again$"):
            generated(changed(program, ("decoder", *path), value), tensors)


def test_sinusoids_of_any_size_are_limited(saved):
    _, program, tensors = saved
    waves = {"kind": "sinusoids", "rows": 60_000, "columns": 65_536}
    with pytest.raises(InputError, match="60000 × 65536 numbers"):
        generated(changed(program, ("decoder", "positions"), waves), tensors)

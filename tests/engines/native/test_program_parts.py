"""Programs are untrusted data: a changed program is rejected, or runs within its tensors."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

import tiny
from niwaki.core.errors import InputError
from niwaki.engines.native.library import best
from niwaki.engines.native.network import Network
from niwaki.engines.native.program import Program
from niwaki.engines.native.program_file import DIGESTS, PROGRAM, read_program, tensors_of, write_program
from niwaki.engines.native.program_parts import Parts
from niwaki.models.edits.int8 import Int8

pytestmark = pytest.mark.skipif(best() is None, reason="the native engine was not built, or this processor lacks AVX2")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    saved_models = {}
    for family, whole in (("bert", False), ("mpnet", True), ("albert", False)):
        model, folder = tiny.model(family), tmp_path_factory.mktemp(family)
        if whole:
            model.apply_edit(Int8())
        model.save(folder)
        assert write_program(model, folder) is None
        program = json.loads((folder / PROGRAM).read_text())
        del program[DIGESTS]
        saved_models[family] = (folder, program, dict(tensors_of(folder)))
    return saved_models


def places(value, path=()):
    """The paths of all values in plain data."""
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


@pytest.mark.parametrize("family", ["bert", "mpnet"])
def test_names_of_tensors_that_utf8_cannot_hold_are_read(saved, family):
    """A program and a weights file may agree on half a surrogate pair."""
    _, program, tensors = saved[family]
    half = "\ud800"
    renamed = Program.model_validate(
        json.loads(json.dumps(program).replace('"mpnet.', f'"{half}').replace('"bert.', f'"{half}'))
    )
    given = {name.replace(f"{family}.", half, 1): value for name, value in tensors.items()}
    ids, lengths = np.array([5, 6, 7]), np.array([3])
    found, wanted = (
        Network(one, of, "here")(ids, np.zeros_like(ids), lengths)
        for one, of in ((renamed, given), (Program.model_validate(program), tensors))
    )
    assert np.array_equal(found, wanted)


ODD = some.sampled_from(
    [0, 1, -1, 2, 3, 7, 64, 65, 10**6, 1 << 31, 1 << 63, 0.5, 1e300, "", "x", None, True, [], {}, [0], [1, 2]]
)


@settings(max_examples=200, deadline=None)
@given(data=some.data(), family=some.sampled_from(["bert", "mpnet", "albert"]))
def test_changed_program_is_rejected_or_runs_safely(saved, data, family):
    _, program, tensors = saved[family]
    changed = copy.deepcopy(program)
    for _ in range(data.draw(some.integers(1, 3))):
        path = data.draw(some.sampled_from(sorted((p for p in places(changed) if p), key=str)))
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        drawn = data.draw(some.one_of(ODD, some.sampled_from([program["tokens"], program["layers"][0], *tensors])))
        holder[path[-1]] = copy.deepcopy(drawn)  # the next change may be inside of it
    try:
        network = Network(Program.model_validate(changed), tensors, "here")
    except (InputError, ValueError):
        return
    longest = min(network.sizes.longest, 9)
    found = network(np.zeros(longest, int), np.zeros(longest, int), np.array([longest]))
    assert found.shape == ((longest if network.per_token else 1), network.sizes.labels)


def test_saved_program_describes_the_model(saved):
    folder, _, tensors = saved["mpnet"]
    sizes = Parts(read_program(folder)[0], tensors, "here").sizes
    model = tiny.model("mpnet")
    assert sizes.width == 32 and sizes.vocabulary == model.network.config.vocab_size and sizes.labels == 2
    assert sizes.longest == model.anatomy.max_tokens and sizes.types == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 2}', "{" * 5000, '{"tokens": NaN}'])
def test_invalid_program_file_is_rejected_by_name(saved, tmp_path, text):
    (tmp_path / PROGRAM).write_text(text)
    with pytest.raises(InputError, match=PROGRAM):
        read_program(tmp_path)


def runs(saved, family="bert"):
    return Network(*read_program(saved[family][0]), "here")


@pytest.mark.parametrize("change", [{"pooling": "mean"}, {"unit_length": True}], ids=str)
def test_a_head_for_every_token_that_pools_is_rejected(saved, change):
    _, program, tensors = saved["bert"]
    with pytest.raises(InputError, match="head is for every token, and pools"):
        Parts(Program(**program | {"per_token": True} | change), tensors, "here")


def test_empty_batch_gives_no_logits(saved):
    assert runs(saved)(np.zeros(0), np.zeros(0), np.zeros(0)).shape == (0, 2)


@pytest.mark.parametrize(
    ("ids", "types", "lengths", "error"),
    [
        ([5, 10**6], [0, 0], [2], InputError),
        ([5, -1], [0, 0], [2], InputError),
        ([5, 5], [0, 9], [2], InputError),
        ([5] * 99, [0] * 99, [99], InputError),
        ([5, 5], [0, 0], [3], ValueError),
        ([5, 5], [0, 0], [2, 0], ValueError),
        ([5, 5], [0], [2], ValueError),
    ],
    ids=["unknown id", "negative id", "unknown type", "too long", "wrong sum", "empty text", "too few types"],
)
def test_out_of_range_inputs_are_rejected(saved, ids, types, lengths, error):
    with pytest.raises(error):
        runs(saved)(np.array(ids), np.array(types), np.array(lengths))


def test_ten_thousand_texts_in_one_call(saved):
    network = runs(saved)
    lengths = np.random.default_rng(0).integers(1, 9, 10_000)
    ids = np.random.default_rng(1).integers(0, network.sizes.vocabulary, lengths.sum())
    found = network(ids, np.zeros_like(ids), lengths)
    first = network(ids[: lengths[0]], np.zeros(lengths[0]), lengths[:1])
    last = network(ids[-lengths[-1] :], np.zeros(lengths[-1]), lengths[-1:])
    np.testing.assert_array_equal(found[[0, -1]], np.concatenate([first, last]))


def test_unknown_kernels_are_rejected(saved):
    with pytest.raises(InputError, match="cannot run here"):
        Network(*read_program(saved["bert"][0]), "here", "avx9")

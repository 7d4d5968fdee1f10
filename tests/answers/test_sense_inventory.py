"""The files of a sense inventory are saved, copied and checked with the model."""

import shutil

import numpy as np
import pytest

from answers.senses import key, write
from engines.kinds import INPUTS, model_of, saved
from niwaki.answers._sense_inventory import LEXFILES, SenseInventory, Vectors, labels, numbered, priors, sense_ranges
from niwaki.answers.senses import Senses, meaning
from niwaki.core.errors import InputError
from niwaki.core.files import commit_folder
from niwaki.engines.predictor import Predictor
from niwaki.models.model import load_folder


def test_inventory_files_are_copied_with_the_model(tmp_path):
    """Saved, loaded, saved again and copied: the answers are the same, and the files too, byte for byte."""
    first = saved(model_of("senses"), tmp_path / "first")
    again = saved(load_folder(first), tmp_path / "again")
    copied = shutil.copytree(again, tmp_path / "copied")
    wanted = Predictor(first).values(INPUTS["senses"])
    assert all(Predictor(folder).values(INPUTS["senses"]) == wanted for folder in (again, copied))
    for name in Senses.required_files({}):
        assert (first / name).read_bytes() == (copied / name).read_bytes()
    student = load_folder(first).clone()
    assert student.sibling_files == load_folder(first).sibling_files != {}


@pytest.mark.parametrize("name", Senses.required_files({}))
def test_missing_or_changed_inventory_file_is_named(tmp_path, name):
    with commit_folder(tmp_path / "stage") as folder:
        saved(model_of("senses"), folder / "model")
    home = tmp_path / "stage" / "model"
    content = (home / name).read_bytes()
    (home / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for load in (Predictor, load_folder):
        with pytest.raises(InputError, match=rf"{name}: is not what was saved"):
            load(home)
    (tmp_path / "stage" / "MANIFEST").unlink()
    (home / name).unlink()
    for load in (Predictor, load_folder):
        with pytest.raises(InputError, match=rf"{name}: is missing"):
            load(home)


def test_candidates_are_ranges_in_the_order_of_the_inventory(sense_inventory):
    assert [sense_inventory.keys[n] for n in range(*sense_inventory.candidates("bank"))] == [
        key("bank", "noun", 1),
        key("bank", "noun", 2),
        key("bank", "verb", 1),
    ]
    assert [sense_inventory.keys[n] for n in range(*sense_inventory.candidates("bank", "verb"))] == [
        key("bank", "verb", 1)
    ]
    first, last = sense_inventory.candidates("bank", "adj")
    assert first == last and sense_inventory.candidates("bunk") == (0, 0)
    assert sense_inventory.keys.index(key("bank", "noun", 2)) == sense_inventory.candidates("bank")[0] + 1


def test_sense_ranges_match_values_computed_by_hand():
    lemmas = ["a", "a", "a", "b"]
    assert numbered(lemmas).tolist() == [0, 0, 0, 1] and numbered([]).tolist() == []
    found = sense_ranges(lemmas, numbered(lemmas), np.array([0, 0, 3, 1]))
    assert found == {"a": (0, 2, 2, 2, 3), "b": (3, 3, 4, 4, 4)}


def test_priors_match_values_computed_by_hand():
    """A lemma seen 3 and 0 times, and another's only sense."""
    found = priors(np.array([3, 0, 7]), np.array([1, 2, 1]), np.array([0, 0, 1]))
    np.testing.assert_allclose(found, [[np.log(3.5 / 4), 1, 1], [np.log(0.5 / 4), 0, 0.5], [0, 1, 1]], rtol=1e-6)


def test_int8_vectors_are_within_half_a_step_and_absent_ones_are_zero():
    vectors = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
    packed = Vectors.packed(vectors, np.array([1, 2, 4, 5, 6]), 7)
    assert (
        np.abs(packed.codes[packed.rows[[1, 2, 4, 5, 6]]] * packed.scale - vectors).max() <= packed.scale[0] / 2 + 1e-6
    )
    assert not packed.codes[packed.rows[[0, 3]]].any() and packed.codes.dtype == np.int8


def test_scores_equal_products_with_dense_vectors(sense_inventory):
    dense = np.zeros((len(sense_inventory.keys), len(labels(4))))
    dense[:, :4] = sense_inventory.vectors.codes[sense_inventory.row] * sense_inventory.vectors.scale
    dense[np.arange(len(dense)), 4 + sense_inventory.lexfile] = 1
    dense[:, 4 + LEXFILES :] = sense_inventory.prior
    v = np.random.default_rng(2).normal(size=(3, len(labels(4)))).astype(np.float32)
    owners, senses = np.array([0, 0, 1, 2, 2]), np.array([0, 3, 1, 2, 9])
    np.testing.assert_allclose(
        sense_inventory.scores(v, owners, senses), (v[owners] * dense[senses]).sum(axis=1), rtol=1e-5
    )
    assert len(labels(4)) == 4 + 45 + 3


def test_meaning_is_the_gloss_without_examples():
    assert meaning('sloping land; "they sat"; "he"') == "sloping land" and meaning("tip; turn") == "tip; turn"


def test_inventory_files_round_trip(sense_inventory, tmp_path):
    again = SenseInventory.from_folder(write(tmp_path, sense_inventory.to_files()))
    assert (
        again.keys == sense_inventory.keys
        and again.forms == sense_inventory.forms
        and again.gloss(2) == sense_inventory.gloss(2)
    )
    for name in ("row", "prior", "lexfile", "synset"):
        np.testing.assert_array_equal(getattr(again, name), getattr(sense_inventory, name))
    assert again.to_files() == sense_inventory.to_files()


@pytest.mark.parametrize("name", sorted(Senses.required_files({})))
@pytest.mark.parametrize("how", ["missing", "empty", "cut", "other bytes"])
def test_damaged_inventory_file_is_named_in_one_line(sense_inventory, tmp_path, name, how):
    files = sense_inventory.to_files()
    write(tmp_path, files)
    spoilt = {"empty": b"", "cut": files[name][: len(files[name]) // 2], "other bytes": b"\x80" * 200}
    if how == "missing":
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(spoilt[how])
    with pytest.raises(InputError, match=name) as caught:
        SenseInventory.from_folder(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("codes", "rows", "scale", "words"),
    [
        (np.zeros((2, 4), np.int8), np.full(11, 7, np.int32), [1.0], "is not among the 2 there are"),
        (np.zeros((2, 4), np.int8), np.full(11, -1, np.int32), [1.0], "is not among the 2 there are"),
        (np.zeros((2, 4), np.int8), np.zeros(10, np.int32), [1.0], "row of each of the 11 synsets"),
        (np.zeros((2, 4), np.float32), np.zeros(11, np.int32), [1.0], "must hold codes"),
        (np.zeros((2, 4), np.int8), np.zeros(11, np.int32), [np.inf], "one finite number"),
        (np.zeros((0, 4), np.int8), np.zeros(11, np.int32), [1.0], "is not among the 0"),
    ],
)
def test_vectors_of_the_wrong_shape_are_rejected(sense_inventory, tmp_path, codes, rows, scale, words):
    from safetensors.numpy import save

    write(tmp_path, sense_inventory.to_files())
    built = {"codes": codes, "rows": rows, "scale": np.array(scale, np.float32)}
    (tmp_path / "glosses.safetensors").write_bytes(save(built))
    with pytest.raises(InputError, match=words):
        SenseInventory.from_folder(tmp_path)

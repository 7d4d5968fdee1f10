"""y as classes or numbers."""

import numpy as np
import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.estimators._targets import check_labels, classes_in, label_names

TEXTS = ["a film", "a plot", "a scene"]


@pytest.mark.parametrize(
    ("y", "kind"),
    [(["a", "b", "a"], pa.string()), ([1, 0, 1], pa.int64()), (np.array([0.5, 1.0, 2.0]), pa.float64())],
)
def test_the_type_of_labels_is_found(y, kind):
    assert check_labels(TEXTS, y) == kind


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "y: fit requires y to be passed"),
        ([["a"], ["b"], ["a", "b"]], "y: has several labels for a text"),
    ],
)
def test_missing_or_nested_labels_are_rejected(y, message):
    with pytest.raises(InputError, match=message):
        check_labels(TEXTS, y)


def test_another_number_of_labels_is_rejected():
    with pytest.raises(InputError):
        check_labels(TEXTS, ["a", "b"])


def test_classes_are_sorted_and_numbered():
    classes, codes = classes_in(["c", "a", "c", "b"])
    assert classes.tolist() == ["a", "b", "c"] and codes.tolist() == [2, 0, 2, 1]


def test_a_single_class_is_rejected():
    with pytest.raises(InputError, match=r"^y: has one class \(7\); at least 2 classes are needed$"):
        classes_in(np.array([7, 7]))


def test_numbers_are_no_classes():
    with pytest.raises(ValueError, match="Unknown label type"):
        classes_in(np.array([0.5, 1.5, 2.25]))


@pytest.mark.parametrize(
    ("classes", "names"),
    [
        (["bad", "good"], ["bad", "good"]),
        ([0, 1], ["0", "1"]),
        ([-1, 1], ["class 0", "class 1"]),  # readers take -1 for a missing label
        (["NaN", "x"], ["class 0", "class 1"]),
        ([" a", "a"], ["class 0", "class 1"]),
        (["", "a"], ["class 0", "class 1"]),
    ],
)
def test_unusable_class_names_are_numbered(classes, names):
    assert label_names(np.array(classes)) == names

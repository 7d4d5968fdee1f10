"""`niwaki.distill`: a student of a finished model."""

import pytest

import niwaki
from niwaki.api.distilling import student_start
from niwaki.core.errors import InputError, UsageError

from .compressions import TEXTS, measure_little, stock_folder

_ = pytest.fixture(scope="module", autouse=True)(measure_little)


@pytest.fixture(scope="module")
def stock(tmp_path_factory):
    return stock_folder(tmp_path_factory.mktemp("stock"))


def test_a_student_learns_from_texts_without_labels(stock, tmp_path):
    found = niwaki.distill(stock, TEXTS, student=1, epochs=1, out=tmp_path / "student")
    assert found.chosen.name == "student" and found.metric == "agreement" and found.smaller > 1
    assert len(niwaki.load(found.folder).predict(TEXTS)) == len(TEXTS)


@pytest.mark.parametrize(
    ("student", "methods"),
    [
        (None, [{"use": "student", "layers": 1}]),
        (1, [{"use": "student", "layers": 1}]),
        ({"layers": 1, "ffn": 16}, [{"use": "student", "layers": 1, "ffn": 16}]),
        ("averaging", [{"use": "averaging"}]),
    ],
)
def test_a_student_is_cut_from_the_teacher(stock, tmp_path, student, methods):
    assert student_start(student, stock, tmp_path) == {"start": "source", "methods": methods}


def test_a_student_starts_from_another_model(stock, tmp_path):
    assert student_start(str(stock), stock, tmp_path) == {"model": str(stock)}


@pytest.mark.parametrize(
    ("student", "data"),
    [("averagging", TEXTS), ({"layerz": 1}, TEXTS), ({"layers": 9}, TEXTS), (object(), TEXTS), (1, None)],
)
def test_invalid_students_are_rejected_and_nothing_is_written(stock, tmp_path, student, data):
    with pytest.raises((InputError, UsageError)) as error:
        niwaki.distill(stock, data, student=student, out=tmp_path / "out")
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())

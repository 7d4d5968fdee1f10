"""Label data from the files of a run, and the command that prints it."""

import pytest

from niwaki.core.errors import InputError
from niwaki.report.label_data import of_run

from .runs import make_run


@pytest.fixture
def run(tmp_path):
    return make_run(tmp_path / "demo")


def test_a_named_stage_has_its_own_energy(run):
    data = of_run(run, "int8")
    assert data.name == "demo-int8" and data.inference.joules == pytest.approx(12_000 / 2_900)
    assert data.training is not None and data.training.joules == 2_400 and data.cpu == "Example CPU @ 2.0 GHz"
    assert data.quality == "accuracy 82.0 %" and data.task == "rotten_tomatoes"


def test_an_unknown_stage_is_rejected_with_the_names(run):
    with pytest.raises(InputError, match="has no stage 'tiny'; there is: teacher, student"):
        of_run(run, "tiny")

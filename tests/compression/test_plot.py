"""The plot of score against size."""

import pytest

from compression.test_judge import ALL
from niwaki.compression.plot import kind, plot, tip


def test_the_source_is_the_reference_and_one_candidate_is_chosen():
    assert [kind(one, "int8") for one in ALL] == ["reference", "chosen", "stage", "stage"]


def test_tooltips_state_test_score_and_size():
    assert tip(ALL[1]) == "int8: 0.8950, 0.0 MB"


def test_every_candidate_is_drawn_once_with_its_style():
    drawing = plot("accuracy", ALL, "4bit")
    assert drawing.startswith('<div class="niwaki-plot"><style>') and drawing.endswith("</div>")
    assert drawing.count('class="mark"') == len(ALL)
    assert all(tip(one) in drawing for one in ALL)
    assert "MB on disk" in drawing and "accuracy" in drawing


@pytest.mark.parametrize("chosen", ["4bit", "int8"])
def test_one_point_is_marked_as_chosen(chosen):
    drawing = plot("accuracy", ALL, chosen)
    assert drawing.count('class="point chosen') == 1

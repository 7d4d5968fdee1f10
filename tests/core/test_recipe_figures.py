"""Figures of shipped recipes."""

import pytest

from niwaki.core.recipe_figures import Figures, measured_figures
from niwaki.core.recipes import recipe_files

FIGURES = Figures(task="MRPC", stage="int8", seeds=1, kept=0.9701, faster=10.81, faster_than="the teacher")


@pytest.mark.parametrize(
    ("recipe", "kept", "key", "value"),
    [("narrow", 0.99, "smaller", 28), ("terse", 0.93, "smaller", 50), ("slim", 0.97, "faster", 45)],
)
def test_headline_recipes_have_the_advertised_figures(recipe, kept, key, value):
    assert any(one.kept >= kept and (getattr(one, key) or 0) >= value for one in measured_figures()[recipe])


def test_the_cascade_keeps_99_percent_at_24_times_the_speed():
    found = [one for one in measured_figures()["fast"] if one.stage.startswith("cascade")]
    assert [one for one in found if one.kept >= 0.99 and one.faster >= 24]


def test_measured_recipes_are_shipped():
    assert set(measured_figures()) <= set(recipe_files())


def test_figures_without_a_size_are_described_without_it():
    assert FIGURES.short() == "97.0% kept, 11× faster"
    assert FIGURES.sentence() == "MRPC, int8: 97.0% of the teacher's score, 10.8× faster than the teacher (1 seed)"


def test_figures_with_a_size_name_ratio_and_megabytes():
    sized = Figures("MRPC", "int8", 3, 0.97, 10.8, "the teacher", smaller=8.33, megabytes=11.01)
    assert "8.3× smaller (11.0 MB)" in sized.sentence() and sized.sentence().endswith("(3 seeds)")
    assert sized.short() == "97.0% kept, 8× smaller, 11× faster"

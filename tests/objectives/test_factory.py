"""Objectives by name or with settings: mistakes are named, and settings are part of the stage key."""

import pytest

from niwaki.objectives._factory import objective_problems, objective_settings


@pytest.mark.parametrize(
    "given, problem",
    [
        ("masked", "objective: objective 'masked' is not known, did you mean 'masked_lm'"),
        ({"use": "masked_lm", "rats": 0.2}, "objective.rats: unknown key, did you mean 'rate'"),
        ({"use": "masked_lm", "rate": 2}, "objective.rate: input should be less than 1"),
        ({"rate": 0.2}, "objective: a table names its objective in `use`"),
        ({"use": "supervised", "rate": 0.2}, "objective.rate: unknown key"),
    ],
)
def test_wrong_names_and_settings_are_rejected(given, problem):
    (found,) = objective_problems(given)
    assert found.startswith(problem)


def test_settings_are_part_of_the_key_with_their_defaults():
    assert objective_settings("supervised") == []
    assert objective_settings("masked_lm") == objective_settings({"use": "masked_lm", "rate": 0.15})
    assert objective_settings("masked_lm") != objective_settings({"use": "masked_lm", "rate": 0.2})

"""All faults at once, each with its path and its fix."""

import pytest

from niwaki.answers.number import Number
from niwaki.core.errors import InputError
from niwaki.core.settings import Settings, check, setting


class Inner(Settings):
    epochs: float = setting(1.0, "passes", gt=0)


class Outer(Settings):
    name: str = setting(..., "name")
    train: Inner | None = setting(None, "training")
    many: list[Inner] = setting([], "several")


def faults(values, path=""):
    with pytest.raises(InputError) as caught:
        check(Outer, values, path)
    return caught.value.faults


def test_all_faults_are_reported_at_once_with_path_and_suggestion():
    found = faults(
        {"nmae": 1, "train": {"epoch": 2, "epochs": -1}, "many": [{}, {"epochs": "x"}, {"zzz": 1}]}, "stages.0"
    )
    assert sorted(found) == sorted(
        [
            "stages.0.name: needed, but not given",
            "stages.0.nmae: unknown key, did you mean 'name'?",
            "stages.0.train.epoch: unknown key, did you mean 'epochs'?",
            "stages.0.train.epochs: input should be greater than 0 (given: -1)",
            "stages.0.many.1.epochs: input should be a valid number, unable to parse string as a number (given: 'x')",
            "stages.0.many.2.zzz: unknown key; there is: epochs",
        ]
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_must_be_finite(value):
    assert "finite" in faults({"name": "a", "train": {"epochs": value}})[0]


def test_valid_values_are_completed_with_defaults():
    settings = check(Outer, {"name": "a", "train": {}})
    assert settings.train.epochs == 1.0 and settings.many == []


def test_long_values_are_shortened_in_messages():
    assert len(faults({"name": "a", "train": {"epochs": "9" * 5000 + "x"}})[0]) < 400


def test_very_large_numbers_are_rejected_for_every_field():
    class Some(Settings):
        count: int = setting(1, "of something", ge=1)
        maybe: int | None = setting(None, "of something")
        share: float = setting(0.5, "of something", ge=0)
        named: str | int = setting("", "a number or a word")
        large: int = setting(1, "with a limit of its own", le=10**15)

    for name in ("count", "maybe", "share", "named"):
        with pytest.raises(InputError, match=rf"{name}: numbers must be at most 1,000,000,000 \(given: 10{{12}}"):
            check(Some, {name: 10**12})
    assert check(Some, {"large": 10**12, "named": "10" * 20}).large == 10**12


def test_mean_and_scale_of_numbers_have_no_limit():
    assert Number(mean=-5e12, scale=2e11).scale == 2e11

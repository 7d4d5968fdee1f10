"""Overrides: `--set key.path=value`."""

from pathlib import Path

import pytest

from niwaki.core.errors import InputError
from niwaki.run.recipe import apply_override, read


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_stages_are_found_by_name_and_methods_by_use():
    values = {"stages": [{"name": "a", "methods": [{"use": "heads"}, {"use": "ffn"}]}]}
    for override in (
        "seed=3",
        "stages.a.train.epochs=0.5",
        "stages.0.methods.ffn.keep=0.25",
        "stages.a.methods.0.keep=1",
        "data.path=my file.csv",
    ):
        apply_override(values, override)
    assert values == {
        "seed": 3,
        "data": {"path": "my file.csv"},
        "stages": [
            {
                "name": "a",
                "train": {"epochs": 0.5},
                "methods": [{"use": "heads", "keep": 1}, {"use": "ffn", "keep": 0.25}],
            }
        ],
    }


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed", "must be key.path=value"),
        ("=3", "must be key.path=value"),
        ("stages.teachr.train.epochs=1", "did you mean 'teacher'"),
        ("stages.9.name=x", "there is no '9'"),
        ("model.x=1", "is below a plain value"),
        ("stages.teacher.name.x.y=1", "is below a plain value"),
        ("stages..name=1", "there is no ''"),
    ],
)
def test_invalid_overrides_are_rejected(tmp_path, override, words):
    path = write(tmp_path, 'model = "minilm"\n[[stages]]\nname = "teacher"\n')
    with pytest.raises(InputError, match=words) as caught:
        read(path, [override])
    assert override in str(caught.value)


@pytest.mark.parametrize("override", ["sead=1", "stages.teacher.trian.epochs=1", "stages.teacher.train.epochs=abc"])
def test_overrides_are_validated_like_the_file(tmp_path, override):
    path = write(tmp_path, '[[stages]]\nname = "teacher"\ntrain = {}\n')
    with pytest.raises(InputError, match=r"did you mean|number"):
        read(path, [override])

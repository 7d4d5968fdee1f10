"""Recipes: all problems at once, each with its fix; written and read again, they are the same."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from niwaki.core.errors import InputError
from niwaki.core.recipes import recipe_files
from niwaki.core.renamed import RENAMED, new_name
from niwaki.methods import METHODS
from niwaki.methods._method import Method
from niwaki.run.recipe import locate, parse, read, to_toml
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from niwaki.train.settings import TrainSettings

STAGE = {"name": "teacher", "train": {"epochs": 1}}


def faults(values: dict) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse(values)
    return caught.value.faults


def write(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_shipped_recipe_is_valid():
    found = list(locate("rotten_tomatoes").parent.glob("*.toml"))
    assert found
    for path in found:
        assert read(path).stages


def test_all_problems_are_reported_at_once_with_their_paths():
    problems = faults(
        {
            "modle": "minilm",
            "seed": "many",
            "stages": [{"name": "a", "train": {"epoch": 1, "lr": 2}}, {"nam": "b"}],
        }
    )
    assert any("modle: unknown key, did you mean 'model'?" in fault for fault in problems)
    assert any(fault.startswith("seed: ") and "'many'" in fault for fault in problems)
    assert any("stages.0.train.epoch: unknown key, did you mean 'epochs'?" in fault for fault in problems)
    assert any(fault.startswith("stages.0.train.lr: ") for fault in problems)
    assert any("stages.1.name: needed" in fault for fault in problems)
    assert all("\n" not in fault for fault in problems)


def test_problems_of_names_tasks_and_methods_are_reported_together():
    problems = faults(
        {
            "task": "rotten_tomatos",
            "stages": [
                STAGE,
                {"name": "teacher"},
                {"name": "Big Name"},
                {"name": "race"},
                {
                    "name": "x",
                    "teacher": "nobody",
                    "methods": [{"use": "head"}, {"use": "ffn", "keap": 1}, {"keep": 1}],
                },
            ],
        }
    )
    wanted = [
        "task: task 'rotten_tomatos' is not known, did you mean 'rotten_tomatoes'?",
        "stages.1.name: 'teacher' is used twice",
        "stages.2.name: 'Big Name' must be small letters",
        "stages.3.name: 'race' is taken",
        "stages.4.teacher: 'nobody' is not an earlier stage",
        "stages.4.methods.0.use: method 'head' is not known, did you mean 'heads'?",
        "stages.4.methods.1.keap: unknown key, did you mean 'keep'?",
        "stages.4.methods.2: needs the key 'use'",
    ]
    for start in wanted:
        assert any(fault.startswith(start) for fault in problems), (start, problems)
    assert len(problems) == len(wanted)


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ({"name": "x", "methods": [{"use": "logits"}], "train": {}}, "needs a teacher"),
        ({"name": "x", "teacher": "teacher", "methods": [{"use": "logits"}]}, "give the stage a train block"),
        ({"name": "x", "train": {"unlabelled": 10}}, "unlabelled texts need a teacher"),
        ({"name": "x", "start": "x"}, "is not an earlier stage"),
    ],
)
def test_impossible_stages_are_rejected(stage, words):
    assert any(words in fault for fault in faults({"stages": [STAGE, stage]}))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.0, 0.0])
def test_numbers_are_finite_and_in_their_range(value):
    assert faults({"stages": [{"name": "a", "train": {"epochs": value}}]})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model = ", "is not TOML"),
        ("a" * 2_000_000, "larger than"),
        ("[" * 100_000, "more than 20000 values"),
        ("seeds = " + "[" * 9_000, "is not TOML"),
        (".".join("a" * 9_000) + " = 1", "more than 64 parts"),
        ("stages = []", "stages"),
        ("stages = 3", "stages"),
        ("", "stages: needed"),
    ],
)
def test_invalid_recipe_files_are_rejected(tmp_path, text, words):
    with pytest.raises(InputError, match=words):
        read(write(tmp_path, text))


def test_recipe_in_another_encoding_is_rejected_in_one_line(tmp_path):
    (tmp_path / "r.toml").write_bytes("# caf\xe9".encode("latin-1"))
    with pytest.raises(InputError, match="is not TOML") as caught:
        read(tmp_path / "r.toml")
    assert len(caught.value.faults) == 1


def test_unknown_places_and_prices_of_the_meter_are_rejected():
    for given_meter in ({"place": "FRA"}, {"place": 475}, {"place": "475"}, {"pue": 1.2, "price": 0.05}):
        recipe = parse({"stages": [STAGE], "meter": given_meter})
        assert parse(tomllib.loads(to_toml(recipe))) == recipe
    for key, value in (("place", "Atlantis"), ("pue", 0.5), ("pue", "best"), ("price", "free")):
        problems = faults({"stages": [STAGE], "meter": {key: value}})
        assert len(problems) == 1 and problems[0].startswith(f"meter.{key}: "), problems


def test_unknown_recipe_is_rejected_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'rotten_tomatoes'"):
        locate("rotten_tomato")
    with pytest.raises(InputError, match="is not there"):
        locate("nowhere/x.toml")


words = st.text(st.characters(codec="utf-8"), max_size=12)
trains = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "epochs": st.floats(0.01, 100),
        "lr": st.floats(1e-9, 0.5),
        "batch": st.integers(1, 10_000),
        "dropout": st.none() | st.floats(0, 0.9),
        "precision": st.sampled_from(["auto", "bf16", "fp32"]),
    },
)
methods = st.lists(
    st.one_of(
        st.fixed_dictionaries({"use": st.just("heads"), "keep": st.floats(0.01, 1)}),
        st.fixed_dictionaries({"use": st.just("ffn"), "multiple": st.integers(1, 512)}),
        st.fixed_dictionaries({"use": st.just("int8"), "embeddings": st.booleans()}),
        st.fixed_dictionaries({"use": st.just("student"), "layers": st.integers(1, 9), "start": st.just("fresh")}),
    ),
    max_size=3,
)


@example("\x7f\u2028", '"\\\n', 0, [([], None)])
@given(words, words, st.integers(0, 2**31 - 1), st.lists(st.tuples(methods, trains), min_size=1, max_size=3))
def test_written_recipe_is_read_back_unchanged(model, path, seed, stages):
    stages = [
        {"name": f"s{number}", "methods": given_methods, **({"train": train} if train is not None else {})}
        for number, (given_methods, train) in enumerate(stages)
    ]
    recipe = parse({"model": model, "task": "classification", "data": {"path": path}, "seed": seed, "stages": stages})
    again = parse(tomllib.loads(to_toml(recipe)))
    assert again == recipe
    assert to_toml(again) == to_toml(recipe)


def old_names() -> list[tuple[str, str, str]]:
    """Catalogue, old name, new name; settings of the train block, methods and tasks are named after their owner."""
    kinds: dict[str, list[str]] = {"task": TASKS.names(), "method": METHODS.names(), "recipe": [*recipe_files()]}
    found = [(kind, old, new) for old in RENAMED for kind, known in kinds.items() if (new := new_name(old, known))]
    fields = {"train": [*TrainSettings.model_fields]}
    fields |= {f"data {name}": [*TASKS.load(name, Task).model_fields] for name in TASKS.names()}
    fields |= {f"methods {name}": [*METHODS.load(name, Method).model_fields] for name in METHODS.names()}
    return found + [
        (kind, old, new) for old in RENAMED for kind, known in fields.items() if (new := new_name(old, known))
    ]


def test_renamed_settings_are_rejected_with_the_new_name():
    seen = set()
    for kind, old, new in old_names():
        seen.add((old, new))
        owner, _, name = kind.partition(" ")
        changed: dict[str, Any] = {"stages": [{"name": "first", "methods": [], "train": {"epochs": 1}}]}
        stage = changed["stages"][0]
        if kind == "recipe":
            with pytest.raises(InputError, match=f"it is now called '{new}'"):
                locate(old)
            continue
        if kind == "task":
            changed["task"] = old
        elif kind == "method":
            stage["methods"] = [{"use": old}]
        elif owner == "train":
            stage["train"] = {old: 1}
        elif owner == "data":
            changed |= {"task": name, "data": {old: 1}}
        else:
            stage["methods"] = [{"use": name, old: 1}]
        with pytest.raises(InputError, match=f"it is now called '{new}'"):
            parse(changed)
    assert seen == {(old, new) for old, names in RENAMED.items() for new in names}

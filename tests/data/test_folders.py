"""Splits of a folder by the names of its files; ambiguous names are rejected."""

import pytest

from niwaki.core.errors import InputError
from niwaki.data.dataset_files import read_splits
from niwaki.data.folders import splits_in


def fill(folder, names):
    for name in names.split():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(f"text,label\n{name},1\n")
    return folder


@pytest.mark.parametrize(
    "names, expected",
    [
        ("train.csv", {"train": "train.csv"}),
        ("dev.tsv train.csv test.jsonl", {"train": "train.csv", "validation": "dev.tsv", "test": "test.jsonl"}),
        ("Train.CSV val.csv.gz", {"train": "Train.CSV", "validation": "val.csv.gz"}),
        ("train.csv valid.csv notes.csv test.md", {"train": "train.csv", "validation": "valid.csv"}),
        (
            "validation_mismatched.csv train.csv validation_matched.csv",
            {
                "train": "train.csv",
                "validation_matched": "validation_matched.csv",
                "validation_mismatched": "validation_mismatched.csv",
            },
        ),
        (
            "train.csv val.csv test_2016.csv test.csv",
            {"train": "train.csv", "validation": "val.csv", "test": "test.csv", "test_2016": "test_2016.csv"},
        ),
        (
            "validation.de.csv validation.en.csv",
            {"validation.de": "validation.de.csv", "validation.en": "validation.en.csv"},
        ),
        (
            "en-train.csv en-dev.csv de-dev.csv",
            {"train": "en-train.csv", "validation": "en-dev.csv", "de-dev": "de-dev.csv"},
        ),
        (
            "train-00000-of-00002.csv train-00001-of-00002.csv test-00000-of-00001.csv",
            {"train": "train-00000-of-00002.csv train-00001-of-00002.csv", "test": "test-00000-of-00001.csv"},
        ),
        ("data/train.csv data/test.csv", {"train": "train.csv", "test": "test.csv"}),
    ],
)
def test_names_tell_the_parts(tmp_path, names, expected):
    found = {part: " ".join(path.name for path in files) for part, files in splits_in(fill(tmp_path, names)).items()}
    assert found == expected and list(found) == list(expected)


@pytest.mark.parametrize(
    "names, message",
    [
        ("notes.md rows.csv", "has no train file (train.csv, train.tsv, train.jsonl, train.parquet, train.json,"),
        ("train.csv train.jsonl", "train.csv and train.jsonl are both 'train'; keep one"),
        ("train.csv train.csv.gz", "train.csv and train.csv.gz are both 'train'; keep one"),
        ("train.csv dev.csv val.csv", "dev.csv and val.csv are both 'validation'; keep one"),
        ("train-00000-of-00002.csv", "'train' has 1 of 2 shards; add the others"),
        ("a-train.csv b-train.csv b-test.csv", "a-train, b-train could each be the train file; give one of them"),
    ],
)
def test_ambiguous_files_are_rejected(tmp_path, names, message):
    with pytest.raises(InputError) as caught:
        splits_in(fill(tmp_path, names))
    assert message in str(caught.value)


def test_shards_are_read_one_after_the_other(tmp_path):
    fill(tmp_path, "train-00001-of-00003.csv train-00000-of-00003.csv train-00002-of-00003.csv")
    expected = [f"train-0000{number}-of-00003.csv" for number in range(3)]
    assert read_splits(tmp_path)["train"].column("text").to_pylist() == expected

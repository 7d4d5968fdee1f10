"""Label names of `datasets.Dataset`."""

import datasets

from niwaki.data.objects import to_table


def test_class_labels_in_lists_become_names():
    features = {
        "tokens": datasets.List(datasets.Value("string")),
        "tags": datasets.List(datasets.ClassLabel(names=["O", "B"])),
    }
    rows = {"tokens": [["a", "b"], [], ["c"]], "tags": [[0, 1], [], None]}
    found = to_table(datasets.Dataset.from_dict(rows, features=datasets.Features(features)))
    assert found.column("tags").to_pylist() == [["O", "B"], [], None]


def test_unknown_class_labels_become_nulls():
    features = datasets.Features({"label": datasets.ClassLabel(names=["no", "yes"])})
    assert to_table(datasets.Dataset.from_dict({"label": [-1, 1]}, features=features)).to_pylist() == [
        {"label": None},
        {"label": "yes"},
    ]

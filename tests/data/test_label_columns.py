"""The kind of task follows from the values of the label column."""

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.data.label_columns import label_kind, reject_missing_header


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        (["good", "bad"] * 20, "", ("classification", "")),
        ([0.5, 1.25] * 20, "", ("regression", "")),
        (["0.5", "1.25"] * 20, "", ("regression", "")),
        ([1, 2, 3, 4] * 10, "", ("classification", "")),
        ([0.5, 1.25] * 20, "classification", ("classification", "")),
        ([["a"], ["a", "b"]] * 20, "", ("multilabel", "")),
        (["a|b", "b|c|a", "c", "a|c"] * 10, "", ("multilabel", "|")),
        (["a", "b"] * 20, "multilabel", ("multilabel", "")),
    ],
)
def test_label_values_decide_the_kind_of_task(values, kind, expected):
    column = pa.chunked_array([pa.array(values)])
    assert label_kind(column, column, "label", kind) == expected


def test_cells_with_one_or_several_labels_need_a_task():
    column = pa.chunked_array([pa.array(["a", "b", "c", "a;b", "b;c"] * 4 + ["a"] * 20)])
    with pytest.raises(InputError, match=r"column 'label': cells may hold one label or several \(mark ';'\)"):
        label_kind(column, column, "label", "")


def test_file_without_a_header_is_rejected():
    text, label = "a very long and dull film", "bad"
    rows = pa.table({text: ["another long and fine film"] * 3, label: ["good", "bad", "good"]})
    with pytest.raises(InputError, match="the first row seems to hold no names"):
        reject_missing_header(rows, text, label)
    reject_missing_header(rows.rename_columns(["text", "label"]), "text", "label")

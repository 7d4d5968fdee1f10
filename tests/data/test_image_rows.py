"""Rows of images from folders, arrays and tables."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.data.image_bytes import encode_array
from niwaki.data.image_rows import array_table, column_table, image_column, is_folder_of_images, read_splits

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 4, 5, 3), dtype=np.uint8)
FILES = [encode_array(image).data for image in IMAGES]


def folder_of(path, names):
    for number, name in enumerate(names):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(FILES[number])
    return path


def test_a_subfolder_is_a_label(tmp_path):
    folder_of(tmp_path, ["cat/1.png", "cat/2.PNG", "dog/a.png"])
    (tmp_path / "dog" / "notes.txt").write_text("not an image")
    assert is_folder_of_images(tmp_path)
    (rows,) = read_splits(tmp_path).values()
    assert rows.column("label").to_pylist() == ["cat", "cat", "dog"]
    assert rows.column("image").to_pylist() == FILES[:3]
    assert rows.column("text").to_pylist() == [hashlib.sha256(one).hexdigest() for one in FILES[:3]]


def test_subfolders_named_after_parts_hold_those_of_the_labels(tmp_path):
    folder_of(tmp_path, ["train/cat/1.png", "train/dog/1.png", "val/cat/1.png", "test/dog/1.png"])
    found = read_splits(tmp_path)
    assert {part: rows.column("label").to_pylist() for part, rows in found.items()} == {
        "train": ["cat", "dog"],
        "validation": ["cat"],
        "test": ["dog"],
    }


def test_arrays_may_be_named_after_parts(tmp_path):
    np.savez(
        tmp_path / "rows.npz",
        train_images=IMAGES[:4],
        train_labels=[0, 1, 1, 0],
        test_images=IMAGES[4:],
        test_labels=["a", "b"],
    )
    found = read_splits(tmp_path / "rows.npz")
    assert found["train"].column("label").to_pylist() == ["0", "1", "1", "0"]
    assert found["test"].column("image").to_pylist() == FILES[4:]


def test_columns_of_bytes_and_of_tables_with_bytes_are_found(tmp_path):
    for cells in (FILES[:2], [{"bytes": one, "path": None} for one in FILES[:2]]):
        table = pa.table({"id": [1, 2], "photo": cells, "label": ["a", "b"]})
        parquet.write_table(table, tmp_path / "rows.parquet")
        rows = read_splits(tmp_path / "rows.parquet")["all"]
        assert image_column(rows, "", "rows") == "photo"
        found = column_table(rows, "photo", rows.column("label"), "rows")
        assert found.column("image").to_pylist() == FILES[:2] and found.column("label").to_pylist() == ["a", "b"]


def test_arrays_of_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "rows.npz", images=np.array([{"a": 1}], dtype=object), labels=[0])
    with pytest.raises(InputError, match="array 'images' cannot be read"):
        read_splits(tmp_path / "rows.npz")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda path: read_splits(path / "none.npz"), "is not there"),
        (lambda path: read_splits(folder_of(path, ["x/1.txt"]) / "1.npz"), "is not there"),
        (lambda path: array_table(IMAGES, np.zeros(5), "rows"), "labels .rows,.; they have"),
        (lambda path: array_table(IMAGES[:0], np.zeros(0), "rows"), "rows: has no images"),
        (lambda path: image_column(pa.table({"a": ["x"]}), "", "rows"), "0 columns hold bytes .none."),
        (
            lambda path: column_table(
                pa.table({"a": pa.array([None], pa.binary())}), "a", pa.chunked_array([["x"]]), "rows"
            ),
            "row 1 has no image",
        ),
    ],
    ids=["missing", "folder", "shapes", "empty", "columns", "cell"],
)
def test_what_holds_no_images_is_rejected(act, message, tmp_path):
    with pytest.raises(InputError, match=message):
        act(tmp_path)

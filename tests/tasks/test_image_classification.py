"""Images with labels, from the file to the batch."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import tiny
from niwaki.core.errors import InputError
from niwaki.data.image_bytes import encode_array
from niwaki.tasks.image_classification import ImageClassification

GENERATOR = np.random.default_rng(0)
IMAGES = GENERATOR.integers(0, 256, (40, 6, 5, 3), dtype=np.uint8)
LABELS = np.array(["cat", "dog"])[np.arange(40) % 2]


@pytest.fixture
def path(tmp_path):
    np.savez(
        tmp_path / "rows.npz", images=np.concatenate([IMAGES, IMAGES[:4]]), labels=np.concatenate([LABELS, LABELS[:4]])
    )
    return str(tmp_path / "rows.npz")


def test_rows_become_pixels_and_numbers(path):
    task, model = ImageClassification(path=path), tiny.model("vit")
    rows = task.splits()["train"].slice(0, 7)
    found = task.features(rows, model.tokenizer)
    assert task.labels == ["cat", "dog"] and task.name == "image_classification"
    assert found.targets.tolist() == [task.labels.index(name) for name in rows.column("label").to_pylist()]
    pixels, mask = found.rows.arrays["pixel_values"].padded([3])
    np.testing.assert_array_equal(pixels[0], model.tokenizer.scale(model.tokenizer.pixels(task.inputs(rows)[3])))
    assert mask.shape == (1, model.tokenizer.tokens) and list(task.texts(rows)) == []


def test_equal_images_are_in_the_same_part(path):
    parts = ImageClassification(path=path, validation=0.2, test=0.2).splits()
    digests = {name: set(rows.column("text").to_pylist()) for name, rows in parts.items()}
    assert sum(map(len, digests.values())) == 40 and sum(rows.num_rows for rows in parts.values()) == 44


def test_the_fingerprint_follows_the_images(path, tmp_path):
    before = ImageClassification(path=path).data.fingerprint()
    changed = IMAGES.copy()
    changed[0, 0, 0, 0] ^= 1
    np.savez(
        tmp_path / "other.npz",
        images=np.concatenate([changed, IMAGES[:4]]),
        labels=np.concatenate([LABELS, LABELS[:4]]),
    )
    assert ImageClassification(path=path).data.fingerprint() == before
    assert ImageClassification(path=str(tmp_path / "other.npz")).data.fingerprint() != before


def test_columns_may_be_named(tmp_path):
    cells = [encode_array(image).data for image in IMAGES]
    table = pa.table({"a": cells, "b": cells, "kind": LABELS.tolist(), "label": ["x"] * 40})
    parquet.write_table(table, tmp_path / "rows.parquet")
    task = ImageClassification(path=str(tmp_path / "rows.parquet"), image="b", label="kind")
    assert task.labels == ["cat", "dog"]
    with pytest.raises(InputError, match=r"2 columns hold bytes \(a, b\)"):
        ImageClassification(path=str(tmp_path / "rows.parquet"), label="kind").splits()
    with pytest.raises(InputError, match="column 'kind' holds no images"):
        ImageClassification(path=str(tmp_path / "rows.parquet"), image="kind").splits()
    with pytest.raises(InputError, match="has no column 'kin'"):
        ImageClassification(path=str(tmp_path / "rows.parquet"), image="a", label="kin").splits()

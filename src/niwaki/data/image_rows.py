"""Rows of images with labels: folders with a subfolder for each label, `.npz` files with arrays, or columns of a table.

Images stay encoded, as bytes of PNG or JPEG. `text` is their digest, so that equal images fall into the same part and are found in two parts.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.lib.npyio import NpzFile

from niwaki.core.errors import InputError, first_line
from niwaki.core.files import require_memory
from niwaki.data import dataset_files
from niwaki.data.folders import split_of
from niwaki.data.image_bytes import SUFFIXES, EncodedImage, encode_array, read_image
from niwaki.data.spill import gather

BATCH = 256  # images of a batch that is handed on
MAX_NPZ_BYTES = 4 << 30
IMAGE_KEYS, LABEL_KEYS = ("images", "image", "x", "data"), ("labels", "label", "y", "target")
SCHEMA = pa.schema([("text", pa.string()), ("image", pa.binary()), ("label", pa.string())])
Row = tuple[EncodedImage, str]


def is_folder_of_images(source: str | Path) -> bool:
    """Whether a subfolder, or a subfolder of one of these, holds an image."""
    path = Path(source).expanduser()
    return path.is_dir() and any(_is_image(file) for pattern in ("*/*", "*/*/*") for file in path.glob(pattern))


def is_image_source(source: str | Path) -> bool:
    """Whether it is a file of arrays or a folder of images, so that it has no columns."""
    path = Path(source).expanduser()
    return (path.suffix.lower() == ".npz" and not path.is_dir()) or is_folder_of_images(path)


def is_image_table(table: pa.Table) -> bool:
    """Whether a column holds images as `datasets` writes them. Columns of plain bytes may be texts."""
    return any(pa.types.is_struct(field.type) and _holds_bytes(field.type) for field in table.schema)


def read_folder(folder: Path) -> dict[str, pa.Table]:
    """`train/cat/1.png` or, where no subfolder is named after a part, `cat/1.png`."""
    parts = {split_of(path.name): path for path in _subfolders(folder) if split_of(path.name)}
    if "train" not in parts:
        parts = {"all": folder}
    return {part: table_of(_rows_of_folder(path), path) for part, path in parts.items()}


def _rows_of_folder(folder: Path) -> Iterator[Row]:
    for label in _subfolders(folder):
        for path in sorted(label.iterdir()):
            if _is_image(path):
                yield read_image(path), label.name


def _subfolders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and not path.name.startswith(".")


def read_arrays(path: Path) -> dict[str, pa.Table]:
    """Arrays `images` (rows, height, width[, channels]) of uint8 and `labels` (rows,); `train_images` and so on give the parts."""
    with _open_arrays(path) as file:
        names = {name.lower(): name for name in file.files}
        parts = {split_of(name.rpartition("_")[0]): name.rpartition("_")[0] + "_" for name in names if "_" in name}
        parts = {part: prefix for part, prefix in parts.items() if part} or {"all": ""}
        found = {}
        for part, prefix in parts.items():
            images, labels = (_array(file, names, prefix, keys, path) for keys in (IMAGE_KEYS, LABEL_KEYS))
            found[part] = array_table(images, labels, path)
    return found


def _open_arrays(path: Path) -> NpzFile:
    require_memory(path.stat().st_size if path.is_file() else 0, f"{path}: its arrays")
    try:
        found = np.load(path, allow_pickle=False)
    except Exception as error:  # noqa: BLE001 - damaged archives break numpy in many places
        raise InputError(f"{path}: cannot be read as .npz ({first_line(error)})") from None
    if not isinstance(found, NpzFile):
        raise InputError(f"{path}: holds one array; save images and labels with numpy.savez")
    return found


def _array(file: NpzFile, names: dict[str, str], prefix: str, keys: tuple[str, ...], path: Path) -> np.ndarray:
    name = next((names[prefix + key] for key in keys if prefix + key in names), None)
    if name is None:
        raise InputError(f"{path}: has no array '{prefix}{keys[0]}' (there is: {', '.join(file.files[:8])})")
    size = file.zip.getinfo(f"{name}.npy").file_size if file.zip else 0
    if size > MAX_NPZ_BYTES:
        raise InputError(f"{path}: array '{name}' has {size >> 20} MB; up to {MAX_NPZ_BYTES >> 20} MB are read")
    require_memory(size, f"{path}: array '{name}'")
    try:
        return np.asarray(file[name])
    except Exception as error:  # noqa: BLE001
        raise InputError(f"{path}: array '{name}' cannot be read ({first_line(error)})") from None


def array_table(images: np.ndarray, labels: np.ndarray, where: object) -> pa.Table:
    """Rows of arrays; labels are numbers or names."""
    if images.ndim not in (3, 4) or labels.shape != images.shape[:1]:
        raise InputError(
            f"{where}: images must have the shape (rows, height, width) or (rows, height, width, channels), and labels (rows,); they have "
            f"{images.shape} and {labels.shape}"
        )
    return table_of(
        (
            (encode_array(image, f"{where}: image {number}"), str(label))
            for number, (image, label) in enumerate(zip(images, labels, strict=True))
        ),
        where,
    )


def table_of(rows: Iterable[Row], where: object) -> pa.Table:
    """The columns `text`, `image` and `label`."""
    table = gather(_batches(rows), SCHEMA)
    if not table.num_rows:
        raise InputError(
            f"{where}: has no images; give a subfolder for each label, with {', '.join(SUFFIXES[:3])} files"
        )
    return table


def _batches(rows: Iterable[Row]) -> Iterator[pa.RecordBatch]:
    held: list[Row] = []
    for row in rows:
        held.append(row)
        if len(held) == BATCH:
            yield _batch(held)
            held = []
    if held:
        yield _batch(held)


def _batch(rows: list[Row]) -> pa.RecordBatch:
    data, labels = [image.data for image, _ in rows], [label for _, label in rows]
    return pa.record_batch([[hashlib.sha256(one).hexdigest() for one in data], data, labels], schema=SCHEMA)


def image_column(table: pa.Table, named: str, where: object) -> str:
    """The column that holds images: bytes, or tables with `bytes` as `datasets` writes them."""
    known = [field.name for field in table.schema if _holds_bytes(field.type)]
    if named and named not in known:
        raise InputError(
            f"{where}: column '{named}' holds no images as bytes (such columns: {', '.join(known) or 'none'}; set data.image)"
        )
    if not named and len(known) != 1:
        raise InputError(
            f"{where}: {len(known)} columns hold bytes ({', '.join(known) or 'none'}); name that of the images (data.image)"
        )
    return named or known[0]


def _holds_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return kind.get_field_index("bytes") >= 0
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def column_table(table: pa.Table, image: str, labels: pa.ChunkedArray, where: object) -> pa.Table:
    """Rows of a table with images as bytes and their labels as text."""
    cells = zip(table.column(image), labels, strict=True)
    return table_of(
        ((_cell(cell.as_py(), f"{where}: row {number}"), str(label)) for number, (cell, label) in enumerate(cells, 1)),
        where,
    )


def _cell(cell: object, name: str) -> EncodedImage:
    data = cell.get("bytes") if isinstance(cell, dict) else cell
    if not isinstance(data, bytes) or not data:
        raise InputError(f"{name} has no image; drop the row")
    return EncodedImage(data, name)


def read_splits(source: str | Path) -> dict[str, pa.Table]:
    """Part → rows, from wherever they are."""
    path = Path(source).expanduser()
    if path.suffix.lower() == ".npz" and not path.is_dir():
        if not path.is_file():
            raise InputError(f"{path}: is not there")
        return read_arrays(path)
    return read_folder(path) if is_folder_of_images(path) else dataset_files.read_splits(source)

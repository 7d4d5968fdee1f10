"""Tables in memory as files that the readers take: one parquet file, or a folder with one for each split."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from niwaki.core.files import commit_folder

GROUP_ROWS = 1 << 16
UNDIVIDED = "data"  # name of the file of rows without splits


def write_splits(splits: Mapping[str, pa.Table], folder: Path) -> Path:
    """Writes the tables into a new folder; gives the path to read: the folder, or the file of undivided rows."""
    with commit_folder(folder) as inside:
        for name, table in splits.items():
            # without dictionaries and compression no table looks like a file that unpacks to many times its size
            parquet.write_table(
                table,
                inside / f"{UNDIVIDED if name == 'all' else name}.parquet",
                row_group_size=GROUP_ROWS,
                compression="none",
                use_dictionary=False,
            )
    return folder / f"{UNDIVIDED}.parquet" if "all" in splits else folder

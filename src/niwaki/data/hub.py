"""Data sets of the Hugging Face hub, named `owner/name` or `owner/name:config`. Data only: no code of theirs is run."""

import re

import pyarrow as pa

from niwaki.core.errors import InputError, first_line
from niwaki.core.extras import install_command
from niwaki.data.folders import split_of
from niwaki.data.parquet import plain

ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]*\w(:[\w.+-]+)?")


def looks_like_id(source: str) -> bool:
    return ID.fullmatch(source) is not None


def read_hub(source: str) -> dict[str, pa.Table]:
    name, _, config = source.partition(":")
    try:
        from datasets import load_dataset

        loaded = load_dataset(name, config or None)
        tables = {part: split.data.table for split_name, split in loaded.items() if (part := split_of(str(split_name)))}
    except ImportError:
        raise InputError(
            f"{source}: is not there; to read it as a data set of the Hugging Face hub, {install_command('hub')}"
        ) from None
    except Exception as error:  # noqa: BLE001 - the hub's client raises many kinds, all mean: could not be had
        raise InputError(
            f"{source}: is not there, and not to be had from the Hugging Face hub ({first_line(error)}); name it owner/name or owner/name:config"
        ) from None
    if not tables:
        raise InputError(f"{source}: has no part called train, validation or test; there is: {', '.join(loaded)}")
    return {part: plain(table) for part, table in tables.items()}

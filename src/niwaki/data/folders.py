"""Assigns the files of a folder to splits by their names.

`train`; `validation`, `valid`, `val` or `dev`; `test`. Further test sets keep their own names (`validation_matched`,
`test_2016`). A part may lie in shards (`train-00000-of-00002`), and all of it in a folder `data` below. Where no file is
called so, the names may come last (`en-train`, `en-dev`, `de-dev`): the one train file says which is validation.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from niwaki.core.errors import InputError

READERS = (".csv", ".tsv", ".jsonl", ".parquet", ".json", ".conllu", ".conll")
PACKED = tuple(f"{suffix}.gz" for suffix in READERS if suffix != ".parquet")
SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", ".numbers")
SPLITS = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
}
FURTHER = re.compile(r"(validation|valid|val|dev|test)[-_. ].+", re.IGNORECASE)
LAST = re.compile(rf"(.+)[-_. ]({'|'.join(SPLITS)})", re.IGNORECASE)
SHARD = re.compile(r"(.+)-\d+-of-(\d+)")


def kind_of(path: Path) -> str:
    """`.csv` of x.csv and of x.csv.gz; nothing for files that are not read."""
    name = path.name.lower()
    return next(
        (
            kind
            for kind in READERS
            if name.endswith((kind, f"{kind}.gz"))
            and name not in (kind, f"{kind}.gz")
            and not name.endswith(".parquet.gz")
        ),
        "",
    )


def is_spreadsheet(path: Path) -> bool:
    return path.suffix.lower() in SPREADSHEETS


def split_of(stem: str) -> str:
    """The part a name stands for; nothing where it is none."""
    return SPLITS.get(stem.lower(), stem if FURTHER.fullmatch(stem) else "")


def splits_in(folder: Path) -> dict[str, list[Path]]:
    """Part → its files, the usual three first."""
    found = named(folder) or (named(folder / "data") if (folder / "data").is_dir() else {})
    if not found:
        raise InputError(f"{folder}: has no train file ({', '.join('train' + suffix for suffix in READERS)})")
    order = [*dict.fromkeys(SPLITS.values())]
    return {
        part: found[part] for part in sorted(found, key=lambda part: (order.index(part) if part in order else 9, part))
    }


def named(folder: Path) -> dict[str, list[Path]]:
    stems: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(folder.iterdir()):
        if kind_of(path):
            stems[stem_of(path)].append(path)
    parts = {stem: part for stem in stems if (part := split_of(stem))}
    if not any(part in SPLITS.values() for part in parts.values()):
        parts |= by_last(folder, stems)
    reject_duplicate_splits(folder, parts, stems)
    return {part: stems[stem] for stem, part in parts.items()}


def stem_of(path: Path) -> str:
    stem = path.name[: path.name.lower().rindex(kind_of(path))]
    shard = SHARD.fullmatch(stem)
    return shard[1] if shard else stem


def by_last(folder: Path, stems: Iterable[str]) -> dict[str, str]:
    """Names that end in the part: those with the prefix of the one train file are its parts, the others test sets."""
    found = {stem: (match[1], SPLITS[match[2].lower()]) for stem in stems if (match := LAST.fullmatch(stem))}
    trains = [stem for stem, (_, part) in found.items() if part == "train"]
    if len(trains) > 1:
        raise InputError(f"{folder}: {', '.join(trains[:4])} could each be the train file; give one of them as a file")
    prefix = found[trains[0]][0] if trains else None
    return {stem: part if before == prefix else stem for stem, (before, part) in found.items()}


def reject_duplicate_splits(folder: Path, parts: Mapping[str, str], stems: Mapping[str, list[Path]]) -> None:
    """Two files for one part, of which neither may be dropped in silence; shards that are not all there."""
    for part in set(parts.values()):
        files = [path for stem, its in parts.items() if its == part for path in stems[stem]]
        totals = {int(match[2]) for path in files if (match := SHARD.fullmatch(path.name.lower().partition(".")[0]))}
        if len(files) > 1 and not (len(totals) == 1 and len({path.suffix for path in files}) == 1):
            raise InputError(f"{folder}: {' and '.join(path.name for path in files[:3])} are both '{part}'; keep one")
        if totals and totals != {len(files)}:
            raise InputError(f"{folder}: '{part}' has {len(files)} of {max(totals)} shards; add the others")

"""Names of a head's outputs: read from a config, given to a network, and found again in another order."""

from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.models.anatomy import Network
from niwaki.models.config_rules import CONFIG


def labels_in(config: Json) -> list[str]:
    """The labels of a config.json, by their numbers: JSON has only text for keys, and "10" sorts before "2"."""
    names = config.get("id2label")
    if not isinstance(names, dict) or not all(str(number).isdigit() for number in names):
        raise InputError(f"{CONFIG}: id2label must be a table from numbers to labels")
    return [str(name) for _, name in sorted((int(number), name) for number, name in names.items())]


def label_order(config: Json, labels: list[str]) -> list[int]:
    """Where each of the labels was in a config that has the same ones in another order; empty where it has not."""
    have, wanted = _compared(config, labels)
    return [have.index(name) for name in wanted] if have != wanted and sorted(have) == sorted(wanted) else []


def has_other_labels(config: Json, labels: list[str]) -> bool:
    """Whether a config has as many outputs and names other things: its head answers another question. One output, and names that
    only count (LABEL_0 …), do not say what they mean."""
    have, wanted = _compared(config, labels)
    return len(wanted) > 1 and not counts_only(have) and sorted(have) != sorted(wanted)


def counts_only(names: list[str]) -> bool:
    """Whether names only count the outputs: LABEL_0, LABEL_1 …, or 0, 1 …"""
    return all(name.casefold().removeprefix("label_") == str(number) for number, name in enumerate(names))


def _compared(config: Json, labels: list[str]) -> tuple[list[str], list[str]]:
    """The names in a config that has as many, else none, and the labels: without regard to case, unless labels differ in it alone."""
    names = config.get("id2label")
    have = labels_in(config) if isinstance(names, dict) and len(names) == len(labels) else []
    same = str.casefold if len({label.casefold() for label in labels}) == len(labels) else str
    return [same(name) for name in have], [same(name) for name in labels]


def name_labels(network: Network, labels: list[str], where: str) -> None:
    """Gives the outputs of the head their names; there must be as many."""
    have = len(network.config.id2label)
    if len(labels) != have:
        raise InputError(
            f"{where}: an edited model keeps its head, which has {have} labels; the task has {len(labels)}"
        )
    network.config.id2label = dict(enumerate(labels))
    network.config.label2id = {name: number for number, name in enumerate(labels)}

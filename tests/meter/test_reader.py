"""The order of readers, and which are used."""

from niwaki.core.catalog import Catalog
from niwaki.meter.reader import Reader, all_readers, choose
from niwaki.meter.readers.vcpu import VCpu


def test_readers_are_tried_in_the_documented_order() -> None:
    catalog = Catalog("niwaki.meter.readers", what="reader")
    readers = all_readers()
    assert sorted(reader.name for reader in readers) == catalog.names()
    assert [reader.name for reader in readers] == ["wall", "rapl", "nvml", "vcpu", "flops"]
    assert len({reader.rank for reader in readers}) == len(readers)


def fake(name: str, rank: int, covers: set[str], fault: str | None = None) -> Reader:
    kind = type(name, (VCpu,), {"name": name, "rank": rank, "covers": frozenset(covers), "fault": lambda self: fault})
    return kind()


def test_best_reader_of_each_part_is_chosen_once() -> None:
    readers = [fake("estimate", 9, {"cpu"}), fake("card", 3, {"gpu"}), fake("socket", 2, {"cpu"})]
    chosen, passed = choose(readers)
    assert [reader.name for reader in chosen] == ["socket", "card"] and passed == {}
    chosen, passed = choose([*readers, fake("plug", 1, {"cpu", "gpu"})])
    assert [reader.name for reader in chosen] == ["plug"]
    chosen, passed = choose([*readers, fake("plug", 1, {"cpu", "gpu"}, "unplugged")])
    assert [reader.name for reader in chosen] == ["socket", "card"] and passed == {"plug": "unplugged"}

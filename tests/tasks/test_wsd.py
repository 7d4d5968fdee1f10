"""The task `wsd`: SemCor and the five test sets."""

import pytest

from niwaki.core.errors import InputError
from niwaki.tasks.wsd import Wsd
from tasks.inventory import write_sets
from tasks.rows import counts


@pytest.mark.parametrize("as_xml", [(), ("senseval3", "semeval2007")], ids=["parquet", "some as XML"])
def test_splits_follow_the_published_ones(tmp_path, as_xml):
    task = Wsd(path=write_sets(tmp_path, as_xml))
    assert counts(task) == {
        "train": 20,
        "validation": 4,
        "test": 2 + 3 + 5 + 6,
        "ALL": 20,
        "senseval2": 2,
        "senseval3": 3,
        "semeval2007": 4,
        "semeval2013": 5,
        "semeval2015": 6,
    }
    assert task.data.tests == [
        "test",
        "ALL",
        "semeval2007",
        "semeval2013",
        "semeval2015",
        "senseval2",
        "senseval3",
    ]
    assert task.splits()["ALL"].column("ids").to_pylist()[0] == ["senseval2.t100"]
    assert "published tables give ALL" in task.data.caveats


def test_missing_test_set_is_named(tmp_path):
    write_sets(tmp_path)
    (tmp_path / "wsd_raganato" / "semeval2013.parquet").unlink()
    with pytest.raises(
        InputError, match=r"has no semeval2013\.parquet or semeval2013\.data\.xml, which task 'wsd' needs"
    ):
        Wsd(path=str(tmp_path)).splits()

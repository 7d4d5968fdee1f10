"""Data sets of the hub, read through a stand-in for its client: the network is the edge."""

import sys
from types import SimpleNamespace

import pyarrow as pa
import pytest

from niwaki.core.errors import InputError
from niwaki.data.dataset_files import read_splits
from niwaki.data.hub import looks_like_id

ROWS = pa.table({"text": pa.array(["a", "b"], pa.large_string()), "label": [0, 1]})


@pytest.fixture
def hub(monkeypatch):
    """Records the requests; returns `splits`, or raises `fault`."""
    requests = SimpleNamespace(calls=[], splits=["train", "dev", "test_2", "unsupervised"], fault=None)

    def load_dataset(*names):
        requests.calls.append(names)
        if requests.fault:
            raise requests.fault
        return {name: SimpleNamespace(data=SimpleNamespace(table=ROWS)) for name in requests.splits}

    monkeypatch.setitem(sys.modules, "datasets", SimpleNamespace(load_dataset=load_dataset))
    return requests


def test_parts_under_their_usual_names_and_others_left_out(hub):
    parts = read_splits("owner/name:config")
    assert hub.calls == [("owner/name", "config")] and list(parts) == ["train", "validation", "test_2"]
    assert parts["train"].to_pylist() == ROWS.to_pylist() and parts["train"].schema.field("text").type == pa.string()
    assert read_splits("owner/name", columns=["label"])["train"].column_names == ["label"]
    assert hub.calls[1] == ("owner/name", None)


def test_what_is_there_on_the_disk_goes_first(hub, tmp_path, monkeypatch):
    (tmp_path / "owner").mkdir()
    (tmp_path / "owner" / "name").mkdir()
    (tmp_path / "owner" / "name" / "train.csv").write_text("text\na\n")
    monkeypatch.chdir(tmp_path)
    assert read_splits("owner/name")["train"].to_pylist() == [{"text": "a"}] and not hub.calls


def test_no_package_no_network_no_parts(hub, monkeypatch):
    hub.fault = ConnectionError("Couldn't reach the hub\nat all")
    with pytest.raises(
        InputError, match=r"^o/n: is not there, and not to be had .* \(Couldn't reach the hub\); name it"
    ):
        read_splits("o/n")
    hub.fault, hub.splits = None, ["unsupervised"]
    with pytest.raises(InputError, match="has no part called train, validation or test; there is: unsupervised"):
        read_splits("o/n")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(InputError, match=r"^o/n: is not there; .* pip install \"niwaki\[hub\]\"$"):
        read_splits("o/n")


@pytest.mark.parametrize(
    "source, is_id",
    [
        ("a/b", True),
        ("nyu-mll/glue:mrpc", True),
        ("a", False),
        ("./a/b", False),
        ("/a/b", False),
        ("a/b/c", False),
        ("~/x", False),
        ("a/..", False),
    ],
)
def test_what_looks_like_an_id(source, is_id):
    assert looks_like_id(source) is is_id


def test_a_file_that_is_missing_is_not_looked_for_on_the_hub(hub):
    with pytest.raises(InputError, match=r"data/x.csv: is not there$"):
        read_splits("data/x.csv")
    assert not hub.calls

"""Paths of further heads in a model folder."""

import pytest

from niwaki.core.errors import InputError
from niwaki.core.head_folder import existing_head, head_names, head_path, is_head_folder, trunk_folder, weight_files


@pytest.fixture
def folder(tmp_path):
    for name in ("ner", "topic", "Not-a-name", "empty"):
        (tmp_path / "heads" / name).mkdir(parents=True)
        if name != "empty":
            (tmp_path / "heads" / name / "head.safetensors").write_bytes(b"")
    return tmp_path


def test_heads_are_listed_by_name(folder, tmp_path):
    assert head_names(folder) == ["ner", "topic"]
    assert head_names(tmp_path / "heads" / "ner") == []


def test_head_folder_reads_the_weights_of_its_trunk(folder):
    head = existing_head(folder, "ner")
    assert is_head_folder(head) and not is_head_folder(folder)
    assert trunk_folder(head) == folder.resolve() and trunk_folder(folder) == folder
    assert weight_files(head) == [folder.resolve() / "model.safetensors", head.resolve() / "head.safetensors"]
    assert weight_files(folder) == [folder / "model.safetensors"]


@pytest.mark.parametrize("name", ["", "..", "../ner", "a/b", "NER", "-a", "x" * 65])
def test_invalid_head_names_are_rejected(folder, name):
    with pytest.raises(InputError, match="a name has at most 64 lowercase letters"):
        head_path(folder, name)


def test_unknown_head_is_rejected_with_the_nearest_name(folder):
    with pytest.raises(InputError, match="has no head 'topics', did you mean 'topic'"):
        existing_head(folder, "topics")


def test_link_to_a_head_is_rejected(folder):
    (folder / "heads" / "link").symlink_to("ner")
    with pytest.raises(InputError, match="is a link"):
        head_path(folder, "link")

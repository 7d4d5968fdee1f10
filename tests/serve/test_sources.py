import pytest

from niwaki.core.errors import InputError, UsageError
from niwaki.core.head_folder import HEAD_WEIGHTS
from niwaki.serve.sources import sources_of


def test_names_come_from_folders_or_are_given(tmp_path):
    for name in ("reviews", "topics"):
        (tmp_path / name).mkdir()
    found = sources_of([str(tmp_path / "reviews"), f"other={tmp_path / 'topics'}"])
    assert [(one.name, one.path) for one in found] == [
        ("reviews", str(tmp_path / "reviews")),
        ("other", str(tmp_path / "topics")),
    ]


def test_heads_are_served_with_their_folder(tmp_path):
    for head in ("spam", "tone"):
        (tmp_path / "encoder" / "heads" / head).mkdir(parents=True)
        (tmp_path / "encoder" / "heads" / head / HEAD_WEIGHTS).write_bytes(b"")
    found = sources_of([f"mail={tmp_path / 'encoder'}"])
    names = [("mail", ""), ("mail/spam", "spam"), ("mail/tone", "tone"), ("mail/all", "all")]
    assert [(one.name, one.head) for one in found] == names


def test_equal_names_and_missing_folders_are_rejected(tmp_path):
    (tmp_path / "a").mkdir()
    with pytest.raises(UsageError, match="two models"):
        sources_of([str(tmp_path / "a"), f"a={tmp_path / 'a'}"])
    with pytest.raises(InputError, match="is not a folder"):
        sources_of([str(tmp_path / "none")])
    with pytest.raises(UsageError, match="at least one"):
        sources_of([])

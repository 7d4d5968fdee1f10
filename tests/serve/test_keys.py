import pytest

from niwaki.core.errors import InputError
from niwaki.serve.keys import VARIABLE, read_keys

KEYS = ["0123456789abcdef", "fedcba9876543210"]


def test_keys_come_from_a_file_or_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "keys"
    path.write_text(f"# for the shop\n{KEYS[0]}\n\n  {KEYS[1]}  \n")
    assert read_keys(path) == KEYS
    monkeypatch.setenv(VARIABLE, ",".join(KEYS))
    assert read_keys(None) == KEYS
    monkeypatch.delenv(VARIABLE)
    assert read_keys(None) == []


@pytest.mark.parametrize("text", ["", "# nothing\n", "short\n", "with a blank inside it\n", "ä" * 20, "\x01" * 20])
def test_unusable_keys_are_rejected(tmp_path, text):
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_keys(path)
    assert len(str(caught.value).splitlines()) == 1 and (len(text) < 5 or text.strip() not in str(caught.value))


def test_missing_files_are_rejected(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_keys(tmp_path / "none")

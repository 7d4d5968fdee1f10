"""What `niwaki.tokenizer` hands to the training, which tests/run/test_tokenizer_training.py tests."""

import pytest

from niwaki import api
from niwaki.core.errors import UsageError
from niwaki.run import tokenizer_training as module


@pytest.fixture
def written(monkeypatch):
    calls = []
    monkeypatch.setattr(module, "write", lambda *given: calls.append(given) or {"tokens": 8000})
    return calls


def test_sources_are_paths_and_defaults_are_those_of_the_command(written, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert api.tokenizer(["~/texts.txt"]) == {"tokens": 8000}
    ((sources, split, size, out, columns),) = written
    assert sources == [tmp_path / "texts.txt"] and (split, size, out.name, columns) == ("bpe", 8000, "tokenizer", ())


@pytest.mark.parametrize(("sources", "columns"), [("texts.txt", ()), (["texts.txt"], "text")])
def test_a_single_source_or_column_must_be_in_a_list(written, sources, columns):
    with pytest.raises(UsageError, match=r"^tokenizer: sources and columns are lists; put a single one into a list$"):
        api.tokenizer(sources, columns=columns)
    assert not written

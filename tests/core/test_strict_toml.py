"""Untrusted TOML: keys with too many parts are rejected."""

import pytest

from niwaki.core import strict_toml
from niwaki.core.errors import InputError


def test_keys_with_too_many_parts_are_rejected(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text('a.b = 1\n"c.d.e" = "' + "." * 200 + '"  # ' + "x" * 100 + "\n[t]\nlist = [1, [2, { k = 3 }]]\n")
    assert strict_toml.load(path) == {"a": {"b": 1}, "c.d.e": "." * 200, "t": {"list": [1, [2, {"k": 3}]]}}
    path.write_text(" . ".join(["'a'"] * 100) + " = 1")
    with pytest.raises(InputError, match="more than 64 parts"):
        strict_toml.load(path)

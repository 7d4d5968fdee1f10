"""`niwaki pack`: the command line of packed_file.pack, which tests/engines/native/test_packed_file.py tests."""

import json

import tiny
from niwaki.cli._app import run
from niwaki.engines.native.packed import Packed


def test_packed_file_answers(tmp_path, capsys):
    folder, out = tiny.deployed(tiny.model("bert", layers=1), tmp_path / "model"), tmp_path / "small.niwaki"
    assert run(["pack", str(folder), "--out", str(out), "--processor", "any", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == out.stat().st_size
    assert Packed(out).predict("good")[0]["label"]
    assert run(["pack", str(folder), "--processor", "z80"]) == 2
    assert "one of avx512, avx2, arm, wasm, any" in capsys.readouterr().err

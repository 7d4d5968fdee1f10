"""Predictions with the standard library alone: those of niwaki.load, at once."""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tiny
from niwaki import api
from niwaki.engines.native import packed
from niwaki.engines.native.packed_file import pack
from niwaki.models.edits.int8 import Int8

TEXTS = ["a good film", "dull, naïve", "日本語 good", "", "nul \0 byte", "good " * 300]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packed")
    network = tiny.model("bert", layers=2)
    network.apply_edit(Int8())
    source = tiny.deployed(network, folder / "model")
    pack(source, folder / "model.niwaki")
    return api.load(source, engine="native"), folder / "model.niwaki"


def test_answers_are_those_of_the_predictor(model):
    predictor, path = model
    texts = [text for text in TEXTS if text] + [text for text, _ in tiny.sentences(40)]
    found = packed.Packed(path).predict(texts)
    for ours, theirs in zip(found, predictor.predict(texts), strict=True):
        assert ours["label"] == theirs.label
        np.testing.assert_allclose(list(ours["probabilities"].values()), list(theirs.probabilities.values()), atol=1e-6)


def test_texts_beyond_the_c_tokenizer_name_the_package_they_need(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    opened = packed.Packed(model[1])
    assert opened.predict("good")[0]["label"]
    with pytest.raises(packed.PackedError, match="pip install tokenizers"):
        opened.predict(TEXTS[2])


def test_token_ids_are_checked(model):
    opened = packed.Packed(model[1])
    for ids in ([10**6], [-1], [], [1] * 5000):
        with pytest.raises(packed.PackedError, match=r"is not in the vocabulary|has no tokens, or more"):
            opened.logits([(ids, [0] * len(ids))])


def test_outputs_become_answers_by_their_meaning():
    """Worked out by hand: softmax of 0 and ln 3 is 1/4 and 3/4; the logistic function of 0 is 1/2."""
    found = packed.Packed.__new__(packed.Packed)
    found.labels, found.per_token, found.answer = ["no", "yes"], False, packed.ONE_LABEL
    answer = found._answer([[0.0, float(np.log(3))]])
    assert answer["label"] == "yes" and answer["probabilities"] == pytest.approx({"no": 0.25, "yes": 0.75})
    found.answer = packed.SEVERAL_LABELS
    answer = found._answer([[0.0, float(np.log(3))]])
    assert answer["labels"] == ["yes"] and answer["probabilities"] == pytest.approx({"no": 0.5, "yes": 0.75})
    found.answer = packed.NUMBERS
    assert found._answer([[1.5, 2.0]]) == {"numbers": [1.5, 2.0]}


def test_command_line(model, capsys, monkeypatch):
    path = str(model[1])
    assert packed.main([path, "good", "dull"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == packed.Packed(path).predict(["good", "dull"])
    monkeypatch.setattr("sys.stdin", io.StringIO("good\ndull\n"))
    assert packed.main([path]) == 0 and capsys.readouterr().out.splitlines() == lines
    assert packed.main([]) == 2 and packed.main(["--help"]) == 0 and packed.main([path + "x", "good"]) == 3
    assert capsys.readouterr().err.count("cannot be opened") == 1


def test_it_needs_nothing_but_python(model):
    """No package at all, as in a process of its own: -I -S leave the standard library."""
    command = [sys.executable, "-I", "-S", packed.__file__, str(model[1]), "good"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and json.loads(done.stdout) == packed.Packed(model[1]).predict("good")[0]
    assert "import niwaki" not in Path(packed.__file__).read_text().replace("import nothing of niwaki", "")


@pytest.mark.slow
def test_the_package_answers_without_niwaki(model, tmp_path):
    """The wheel that tools/predict_package.py builds, in a process without any other package."""
    tool = Path(__file__).parents[3] / "tools/predict_package.py"
    subprocess.run([sys.executable, tool, "--out", tmp_path], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < 2_000_000
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    command = [sys.executable, "-S", "-m", "niwaki_predict", str(model[1]), "good"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"PYTHONPATH": f"{tmp_path}/site"})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == packed.Packed(model[1]).predict("good")[0]


@pytest.mark.slow
def test_the_c_example_gives_the_same_logits(model, tmp_path):
    root = Path(__file__).parents[3]
    native = root / "src/niwaki/engines/native/c"
    sources = [str(root / "examples/c/predict.c"), *map(str, native.glob("*.c"))]
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", f"-I{native}", "-o", str(tmp_path / "predict"), "-lm", "-lpthread"]
    subprocess.run(["cc", *sources, *flags], check=True)
    opened = packed.Packed(model[1])
    ids, types = opened.tokenize("a good film")
    wanted = opened.logits([(ids, types)])[0][0]
    for words in (["a good film"], ["--ids", *map(str, ids)]):
        line = subprocess.run([tmp_path / "predict", model[1], *words], capture_output=True, text=True, check=True)
        found = [float(part.split()[1]) for part in line.stdout.split(";")[0].split(", ")]
        np.testing.assert_allclose(found, wanted, atol=2e-6)
    failed = subprocess.run([tmp_path / "predict", "missing", "x"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "missing: cannot be opened" in failed.stderr

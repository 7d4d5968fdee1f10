"""`niwaki run`: invalid recipes, models, rows and folders are rejected before any work."""

import json
import os
import re
import shutil

import pytest

from cli.recipes import KINDS, ONE_STAGE, ROWS, THREE, copied_model
from niwaki.core.lock import locked


def test_every_unknown_name_in_a_recipe_is_reported_on_its_own_line(niwaki, write_recipe, tmp_path):
    more = '[[stages]]\nname = "x"\nmethods = [{ use = "int9" }, { use = "ffn", keap = 0.5 }]\ntrain = { epochs = "many" }\n'
    result = niwaki("run", write_recipe(more=more), "--out", tmp_path / "run")
    assert result.code == 3 and result.out == ""
    assert result.faults[0].startswith("niwaki: stages.1.train.epochs: ")
    more = more.replace('"many"', "1")
    result = niwaki("run", write_recipe(more=more), "--set", "task=clasification", "--out", tmp_path / "run")
    assert result.code == 3 and len(result.faults) == 3
    assert "did you mean 'classification'" in result.faults[0]
    assert "stages.1.methods.0.use: method 'int9' is not known, did you mean 'int8'?" in result.faults[1]
    assert "stages.1.methods.1.keap: unknown key, did you mean 'keep'?" in result.faults[2]
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("seed", "must be key.path=value"),
        ("seeed=1", "did you mean 'seed'"),
        ("stages.tacher.train.epochs=1", "did you mean 'teacher'"),
        ("stages.teacher.train.epochs=x", "stages.0.train.epochs"),
        ("stages.teacher.train.epochs=nan", "stages.0.train.epochs"),
        ("model=", "model"),
        ("data.path=", "data.path: needed"),
        ("data.text=txt", "has no column 'txt', did you mean 'text'?"),
    ],
)
def test_invalid_overrides_are_rejected(rejected_run, write_recipe, override, words):
    assert words in rejected_run(write_recipe(), "--set", override)


@pytest.mark.parametrize("content", [b"model = ", b"\xff\xfe", b"stages = [{}", b"\x00"])
def test_invalid_toml_is_rejected(rejected_run, tmp_path, content):
    (tmp_path / "broken.toml").write_bytes(content)
    assert "is not TOML" in rejected_run(tmp_path / "broken.toml")


def test_folder_without_config_is_rejected(rejected, rejected_run, write_recipe, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "is not a model, it has no config.json" in rejected_run(write_recipe(model=tmp_path / "empty"))
    assert "it has no config.json" in rejected("predict", tmp_path / "empty", "a text")
    assert "it has no config.json" in rejected("show", tmp_path / "empty")


def test_unknown_model_name_is_rejected(rejected_run, write_recipe):
    assert "neither an embedded model (minilm), a folder, nor" in rejected_run(write_recipe(model="minilmm"))


def test_truncated_safetensors_file_is_rejected(rejected, rejected_run, write_recipe, tmp_path, bert_folder, model):
    broken = copied_model(bert_folder, tmp_path)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    assert "model.safetensors: cannot be read, it is damaged" in rejected_run(write_recipe(model=broken))
    served = tmp_path / "served"
    shutil.copytree(model, served)
    (served / "model.safetensors").write_bytes((served / "model.safetensors").read_bytes()[:-1000])
    for engine in ("onnx", "torch"):
        assert str(served) in rejected("predict", served, "a text", "--engine", engine)


def test_pickle_is_rejected_with_the_way_to_convert_it(rejected_run, write_recipe, tmp_path, bert_folder):
    folder = copied_model(bert_folder, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    line = rejected_run(write_recipe(model=folder))
    assert "pytorch_model.bin: is a pickle, which can run code" in line and "convert it once" in line


def test_config_that_requires_code_is_rejected(rejected_run, write_recipe, tmp_path, bert_folder):
    folder = copied_model(bert_folder, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "evil.Evil"}}))
    assert "'auto_map' asks for code" in rejected_run(write_recipe(model=folder))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_damaged_config_or_tokenizer_is_rejected(rejected_run, write_recipe, tmp_path, bert_folder, name):
    folder = copied_model(bert_folder, tmp_path)
    (folder / name).write_text("{")
    assert name in rejected_run(write_recipe(model=folder))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read|is empty|has no rows"),
        (b"text,label\n", "has no rows"),
        (b"text,label\ncaf\xe9,good\nb,bad\n", "UTF-8"),
        (b"text,label\na,good\nb,good,extra\n", "cannot be read as csv"),
        (("text,label\n" + ROWS.replace("bad", "good")).encode(), "at least 2 are needed"),
        (("review,comment,label\n" + THREE).encode(), "could be 'review' or 'comment'.*--set data.text="),
        (("text,genre,topic\n" + KINDS).encode(), "could be 'genre' or 'topic'.*--set data.label="),
        (b"number,other\n1,2\n3,4\n", "none looks like the text"),
        (b"text,label\na,good\nb,\nc,bad\n", "empty"),
        (b"text,label\n,good\nb,bad\n", "empty"),
        (b"\x00\x01\x02", "cannot be read|has no"),
    ],
)
def test_unusable_rows_are_rejected(rejected, tmp_path, bert_folder, content, words):

    (tmp_path / "rows.csv").write_bytes(content)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(ONE_STAGE.format(model=json.dumps(str(bert_folder)), rows='"elsewhere.csv"'))
    line = rejected("run", recipe, "--data", tmp_path / "rows.csv", "--out", tmp_path / "run")
    assert re.search(words, line) and "rows.csv" in line, line
    assert not (tmp_path / "run" / "stages").exists()


def test_label_that_is_missing_from_the_train_rows_is_rejected(rejected_run, write_recipe, tmp_path):
    rows = tmp_path / "rows"
    rows.mkdir()
    (rows / "train.csv").write_text("text,label\n" + ROWS)
    (rows / "test.csv").write_text("text,label\na film,superb\n")
    line = rejected_run(write_recipe(rows=rows))
    assert (
        "label 'superb' is in the test rows and not among the train rows' labels (bad, good); drop those rows" in line
    )
    (rows / "train.csv").unlink()
    (rows / "test.csv").unlink()
    for part, names in (("train", ["a"]), ("test", ["a", "b"])):
        (rows / f"{part}.jsonl").write_text(
            "".join(f'{{"text": "film {k}", "labels": {json.dumps(names)}}}\n' for k in range(40))
        )
    assert "label 'b' is in the test rows" in rejected_run(write_recipe(rows=rows), "--set", "task=multilabel")


def test_too_few_rows_to_split_are_rejected(rejected_run, write_recipe, tmp_path):
    (tmp_path / "few.csv").write_text("text,label\na,good\nb,bad\n")
    line = rejected_run(write_recipe(rows=tmp_path / "few.csv"))
    assert "few.csv" in line and "rows" in line


def test_full_disk_is_reported_before_the_run(rejected_run, write_recipe, monkeypatch, tmp_path):
    nearly_full = shutil.disk_usage(tmp_path)._replace(free=1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: nearly_full)
    line = rejected_run(write_recipe())
    assert "needs about" in line and "0 MB are free; free some space" in line


def test_locked_run_folder_is_rejected(rejected, write_recipe, tmp_path):
    with locked(tmp_path / "run"):
        line = rejected("run", write_recipe(), "--out", tmp_path / "run")
    assert f"in use by process {os.getpid()}; wait for it" in line


def test_output_path_that_is_a_file_is_rejected_and_left_unchanged(niwaki, write_recipe, tmp_path):
    (tmp_path / "run").write_text("not a folder")
    result = niwaki("run", write_recipe(), "--out", tmp_path / "run")
    assert result.code in (1, 3) and len(result.faults) == 1 and str(tmp_path / "run") in result.err
    assert (tmp_path / "run").read_text() == "not a folder"


def test_finished_run_is_not_repeated(niwaki, recipe_file, finished):
    result = niwaki("run", recipe_file, "--out", finished, "--json")
    assert result.code == 0
    assert json.loads(result.out)["schema"] == 1
    assert "there already" in result.err
    plain = niwaki("run", recipe_file, "--out", finished, "--quiet")
    assert plain.err == "" and plain.out.splitlines()[-1] == f"report: {finished / 'report.html'}"

"""Bad input: the right exit code, one line per fault that names the thing, the rule and the fix, and no incomplete files."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest

from niwaki.core import log
from niwaki.core.lock import locked

RECIPE = """\
model = {model}
task = "classification"
quantize = []
data = {{ path = {rows} }}

[[stages]]
name = "teacher"
train = {{ epochs = 0.1 }}
"""


@pytest.fixture
def write_recipe(tmp_path, bert_folder, rows_csv):
    """A recipe of one stage, with another model, other rows or another ending."""

    def write(model: Path | str = bert_folder, rows: Path | str = rows_csv, more: str = "") -> Path:
        path = tmp_path / "recipe.toml"
        path.write_text(RECIPE.format(model=json.dumps(str(model)), rows=json.dumps(str(rows))) + more)
        return path

    return write


@pytest.fixture
def rejected_run(rejected, tmp_path):
    """Runs a recipe that must be rejected; nothing but the lock may be left of the run."""

    def call(recipe: Path | str, *more: str) -> str:
        line = rejected("run", recipe, "--out", tmp_path / "run", *more)
        left = [path.name for path in (tmp_path / "run").rglob("*") if path.is_file()]
        assert set(left) <= {".lock", "recipe.toml", "plan.json", "ledger.jsonl"}, left
        assert not list((tmp_path / "run").glob("stages/*"))
        return line

    return call


def damaged_model(bert_folder: Path, folder: Path) -> Path:
    shutil.copytree(bert_folder, folder / "model")
    return folder / "model"


# the words of the command itself: exit code 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu"], "did you mean 'run'"),
        (["list", "method"], "did you mean 'methods'"),
        (["list", "--jsn"], "--jsn"),
        (["show"], "what"),
        (["run", "a", "b"], "unexpected"),
        (["measure"], "no command given"),
        (["measure", "--", "no-such-program-anywhere"], "cannot be started"),
        (["measure", "--reference", "--", "true"], "not both"),
        (["measure", "--repeats", "0", "--", "true"], "give 1 or more"),
        (["measure", "--repeats", "x", "--", "true"], "repeats"),
        (["ledger", "--csv", "--json"], "not both"),
        (["bench", "x", "--stream", "shrt"], "--stream shrt: is not one, did you mean 'short'?"),
        (["tokenizer"], "files"),
        (["tokenizer", "x.txt", "--vocab-size", "many"], "vocab-size"),
    ],
)
def test_usage(rejected, arguments, words):
    assert words in rejected(*arguments, code=2)


# names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "rotten_tomatos"], "did you mean 'rotten_tomatoes'"),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["check", "no/such"], "is not there"),
        (["run", "my.csv"], "rows of your own are given as --data my.csv"),
        (["check", "my.xlsx"], "my.xlsx: is not there"),
        (["show", "logit"], "did you mean 'logits'"),
        (["report", "nowhere"], "is not a run"),
        (["eval", "nowhere"], "nowhere"),
        (["predict", "nowhere", "a text"], "nowhere: is not a folder"),
        (["ledger", "nowhere"], "nowhere: is not there"),
        (["tokenizer", "nowhere.txt"], "nowhere.txt: is not there"),
        (["tokenizer", __file__, "--vocab-size", "3"], "vocab_size: must be a whole number"),
        (["tokenizer", __file__, "--column", "en"], "has no column 'en'"),
        (["check", "--set", f"model={'x' * 3000}"], "File name too long"),
        (["predict", "x" * 3000, "a text"], "File name too long"),
    ],
)
def test_what_is_not_there(rejected, arguments, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert words in rejected(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_names_inside_a_recipe_each_on_its_line(niwaki, write_recipe, tmp_path):
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
def test_faults_of_set(rejected_run, write_recipe, override, words):
    assert words in rejected_run(write_recipe(), "--set", override)


@pytest.mark.parametrize("content", [b"model = ", b"\xff\xfe", b"stages = [{}", b"\x00"])
def test_broken_toml(rejected_run, tmp_path, content):
    (tmp_path / "broken.toml").write_bytes(content)
    assert "is not TOML" in rejected_run(tmp_path / "broken.toml")


# models


def test_a_folder_that_is_not_a_model(rejected, rejected_run, write_recipe, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "is not a model, it has no config.json" in rejected_run(write_recipe(model=tmp_path / "empty"))
    assert "it has no config.json" in rejected("predict", tmp_path / "empty", "a text")
    assert "it has no config.json" in rejected("show", tmp_path / "empty")


def test_a_name_that_is_no_model(rejected_run, write_recipe):
    assert "neither an embedded model (minilm), a folder, nor" in rejected_run(write_recipe(model="minilmm"))


def test_a_truncated_safetensors(rejected, rejected_run, write_recipe, tmp_path, bert_folder, model):
    broken = damaged_model(bert_folder, tmp_path)
    weights = broken / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])
    assert "model.safetensors: cannot be read, it is damaged" in rejected_run(write_recipe(model=broken))
    served = tmp_path / "served"
    shutil.copytree(model, served)
    (served / "model.safetensors").write_bytes((served / "model.safetensors").read_bytes()[:-1000])
    for engine in ("onnx", "torch"):
        assert str(served) in rejected("predict", served, "a text", "--engine", engine)


def test_a_pickle_is_not_read_and_the_message_says_how_to_convert_it(rejected_run, write_recipe, tmp_path, bert_folder):
    folder = damaged_model(bert_folder, tmp_path)
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    line = rejected_run(write_recipe(model=folder))
    assert "pytorch_model.bin: is a pickle, which can run code" in line and "convert it once" in line


def test_a_config_that_requires_code(rejected_run, write_recipe, tmp_path, bert_folder):
    folder = damaged_model(bert_folder, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "evil.Evil"}}))
    assert "'auto_map' asks for code" in rejected_run(write_recipe(model=folder))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json"])
def test_a_broken_file_next_to_the_weights(rejected_run, write_recipe, tmp_path, bert_folder, name):
    folder = damaged_model(bert_folder, tmp_path)
    (folder / name).write_text("{")
    assert name in rejected_run(write_recipe(model=folder))


def test_a_model_of_another_task(rejected, model, tmp_path):
    (tmp_path / "rows.csv").write_text("text,label\n" + "".join(f"film {k},{'abc'[k % 3]}\n" for k in range(60)))
    assert "its labels are ['bad', 'good'], the task's are ['a', 'b', 'c']" in rejected(
        "eval", model, "--data", tmp_path / "rows.csv"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--split", "tets"], "did you mean 'test'"),
        (["--task", "imdbb"], "did you mean 'imdb'"),
        (["--engine", "onx"], "did you mean 'onnx'"),
    ],
)
def test_eval_of_what_is_not_there(rejected, model, rows_csv, arguments, words):
    more = [] if "--task" in arguments else ["--data", rows_csv]
    assert words in rejected("eval", model, *more, *arguments)


# texts


@pytest.mark.parametrize("texts", [[""], ["   "], ["a film", "\n\t"]])
def test_empty_texts(rejected, model, texts):
    assert f"texts.{len(texts) - 1}: is empty" in rejected("predict", model, *texts)


def test_no_text_at_all(rejected, model, tmp_path, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "no text was given" in rejected("predict", model)
    assert "is not there" in rejected("predict", model, "--in", tmp_path / "none")
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert "UTF-8" in rejected("predict", model, "--in", tmp_path / "latin")
    assert "latin" in rejected("predict", model, "--in", tmp_path / "latin")


def test_odd_texts_are_answered(niwaki, model):
    texts = ["x" * 50_000, "good " * 5000, "\u202egnp.exe", "日本語", "\x00\x01", "a\nb"]
    assert len(json.loads(niwaki("predict", model, *texts, "--json").out)) == len(texts)


# rows

ROWS = "\n".join(f"film number {k} was {'good' if k % 2 else 'bad'},{'good' if k % 2 else 'bad'}" for k in range(60))


THREE = "\n".join(f"film number {k} was long and dear,the plot of number {k} is known,{'ab'[k % 2]}" for k in range(60))
KINDS = "\n".join(f"film number {k} was seen,{'ab'[k % 2]},{'xy'[k // 2 % 2]}" for k in range(60))


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
def test_rows_that_cannot_be_used(rejected, tmp_path, bert_folder, content, words):
    import re

    (tmp_path / "rows.csv").write_bytes(content)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(RECIPE.format(model=json.dumps(str(bert_folder)), rows='"elsewhere.csv"'))
    line = rejected("run", recipe, "--data", tmp_path / "rows.csv", "--out", tmp_path / "run")
    assert re.search(words, line) and "rows.csv" in line, line
    assert not (tmp_path / "run" / "stages").exists()


def test_files_of_rows_that_are_not_there_or_of_another_kind(rejected, tmp_path):
    assert "is not there" in rejected("check", "--data", tmp_path / "none.csv")
    (tmp_path / "rows.xlsx").write_text("x")
    assert "is a spreadsheet, which is not read; export the sheet as CSV" in rejected(
        "check", "--data", tmp_path / "rows.xlsx"
    )
    (tmp_path / "rows.doc").write_text("x")
    assert "give .csv, .tsv, .jsonl, .parquet" in rejected("check", "--data", tmp_path / "rows.doc")
    (tmp_path / "folder").mkdir()
    assert "has no train file" in rejected("check", "--data", tmp_path / "folder")


def test_rows_of_ones_own_for_a_task_that_has_its_own(rejected, rows_csv):
    line = rejected("check", "--set", f"data.path={rows_csv}")
    assert "task 'rotten_tomatoes' has rows of its own; take task 'classification'" in line


def test_a_label_that_is_not_in_the_training_rows(rejected_run, write_recipe, tmp_path):
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


def test_too_few_rows_to_split(rejected_run, write_recipe, tmp_path):
    (tmp_path / "few.csv").write_text("text,label\na,good\nb,bad\n")
    line = rejected_run(write_recipe(rows=tmp_path / "few.csv"))
    assert "few.csv" in line and "rows" in line


def test_many_rows_are_read(niwaki, write_recipe, tmp_path):
    text = "word " * 40
    (tmp_path / "many.csv").write_text(
        "text,label\n" + "".join(f'"{text}{k}, ""quoted""\n",{k % 50}\n' for k in range(20_000))
    )
    plan = json.loads(niwaki("check", write_recipe(rows=tmp_path / "many.csv"), "--json").out)
    assert sum(plan["task"]["rows"].values()) == 20_000 and len(plan["task"]["labels"]) == 50


# the disk, the folder, the process


def test_no_room_on_disk(rejected_run, write_recipe, monkeypatch, tmp_path):
    nearly_full = shutil.disk_usage(tmp_path)._replace(free=1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: nearly_full)
    line = rejected_run(write_recipe())
    assert "needs about" in line and "0 MB are free; free some space" in line


def test_a_locked_folder(rejected, write_recipe, tmp_path):
    with locked(tmp_path / "run"):
        line = rejected("run", write_recipe(), "--out", tmp_path / "run")
    assert f"in use by process {os.getpid()}; wait for it" in line


def test_a_file_where_the_folder_should_be(niwaki, write_recipe, tmp_path):
    (tmp_path / "run").write_text("not a folder")
    result = niwaki("run", write_recipe(), "--out", tmp_path / "run")
    assert result.code in (1, 3) and len(result.faults) == 1 and str(tmp_path / "run") in result.err
    assert (tmp_path / "run").read_text() == "not a folder"


@pytest.mark.parametrize("verb", ["show", "report"])
def test_a_damaged_run_folder(niwaki, finished, tmp_path, verb):
    shutil.copytree(finished, tmp_path / "run")
    (tmp_path / "run" / "plan.json").write_text('{"stages": [')
    result = niwaki(verb, tmp_path / "run")
    assert result.code == 3 and len(result.faults) == 1 and "plan.json" in result.err


@pytest.mark.parametrize("plan", ["[]", "{}", '{"stages": 3}', '{"stages": [{}], "task": {}}'])
def test_a_plan_that_is_json_but_no_plan(niwaki, tmp_path, plan):
    (tmp_path / "plan.json").write_text(plan)
    result = niwaki("show", tmp_path)
    assert result.code == 3 and len(result.faults) == 1 and "plan.json" in result.err, result


def test_a_run_that_is_not_finished_cannot_predict(rejected, finished, tmp_path):
    shutil.copytree(finished, tmp_path / "run")
    (tmp_path / "run" / "report.json").unlink()
    assert "niwaki run" in rejected("predict", tmp_path / "run", "a film")


def test_an_unreadable_run_folder(niwaki, finished, tmp_path, monkeypatch):
    shutil.copytree(finished, tmp_path / "run")

    opened = Path.open

    def denied(path: Path, *arguments: str, **named: str):  # root, as whom CI runs, may read everything
        if path.name == "plan.json":
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", denied)
    result = niwaki("show", tmp_path / "run")
    assert result.code in (1, 3) and "plan.json" in result.err


def test_ctrl_c_is_130_and_one_line(niwaki, write_recipe, tmp_path, monkeypatch):
    from niwaki.run import runner

    def interrupt(*arguments: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(runner, "run_stage", interrupt)
    result = niwaki("run", write_recipe(), "--out", tmp_path / "run")
    assert result.code == 130 and result.faults == [
        "niwaki: interrupted; what was finished is kept, the same command goes on from there"
    ]


def test_a_fault_of_niwakis_own_is_1_and_one_line(niwaki, monkeypatch, tmp_path):
    from niwaki import listing

    def fail(kind: str) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(listing, "rows_of", fail)
    result = niwaki("list")
    assert result.code == 1 and len(result.faults) == 1 and "a fault of niwaki's own: ZeroDivisionError" in result.err


def test_eval_lists_the_columns_it_does_not_read(niwaki, model, tmp_path):
    (tmp_path / "rows.csv").write_text(
        "first,second,label\n" + THREE.replace(",a\n", ",bad\n").replace(",b\n", ",good\n")
    )
    log.quiet(False)
    result = niwaki("eval", model, "--data", tmp_path / "rows.csv", "--set", "data.text=first")
    assert "not used: second (to read pairs of texts, add --set data.second=second)" in result.err, result

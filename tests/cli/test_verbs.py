"""Every verb: help, plain text, JSON that parses, and the exit codes."""

import io
import json
import re
import subprocess
import sys

import pytest

from niwaki.api.task_choice import choose_task
from niwaki.cli._app import PANELS, VERBS

PROGRAM = [sys.executable, "-c", "from niwaki.cli import main; main()"]


def test_the_help_names_every_verb_in_its_group(niwaki, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    help_text = niwaki("--help").out
    shown = [
        line.split()[0] for line in help_text.partition(f"{PANELS[0]}:")[2].splitlines() if re.match(r"  \w", line)
    ]
    assert sorted(shown) == sorted(VERBS.names())
    assert [line[:-1] for line in help_text.splitlines() if line[:-1] in PANELS] == list(PANELS)
    assert shown[0] == "compress"


@pytest.mark.parametrize("verb", VERBS.names())
def test_the_help_describes_each_verb_in_full(niwaki, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "80")
    words = " ".join(niwaki("--help").out.split())
    assert f" {verb} {VERBS.entry(verb).description}" in words
    assert VERBS.module(verb).PANEL in PANELS


@pytest.mark.parametrize("verb", VERBS.names())
def test_help_of_each_verb_says_what_it_does_and_offers_json(niwaki, verb):
    result = niwaki(verb, "--help")
    assert result.code == 0 and result.err == ""
    assert "--json" in result.out and f"niwaki {verb}" in result.out


def test_help_imports_nothing_heavy():
    """How long it takes is held in CPU seconds by tests/house."""
    script = (
        "import sys, niwaki.cli._app as a; code = a.run(['--help']); "
        "heavy = [m for m in ('torch', 'transformers', 'numpy', 'pyarrow', 'onnxruntime', 'jinja2') if m in sys.modules]; "
        "sys.exit(f'imported: {heavy}' if heavy else code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_arguments_print_the_help_and_version_the_version(niwaki):
    import niwaki as package

    assert "Usage: niwaki" in niwaki().out and niwaki().code == 0
    assert niwaki("--version").out.strip() == package.__version__


def test_recipes_are_shown_with_their_measured_figures(niwaki):
    assert "kept, 28× smaller" in niwaki("list", "recipes").out
    assert "# measured: Rotten Tomatoes, gptq:" in niwaki("show", "narrow").out


@pytest.mark.parametrize(
    "kind", ["methods", "tasks", "objectives", "models", "recipes", "engines", "families", "edits"]
)
def test_list(niwaki, kind):
    rows = json.loads(niwaki("list", kind, "--json").out)
    keys = {"name", "family", "description"} | ({"measured"} if kind == "recipes" else set())
    assert rows and all(set(row) == keys and row["description"] for row in rows)
    text = niwaki("list", kind).out
    assert all(row["name"] in text for row in rows)


@pytest.mark.parametrize("what", ["logits", "rotten_tomatoes", "classification"])
def test_show_a_name(niwaki, what):
    value = json.loads(niwaki("show", what, "--json").out)
    assert value["name"] == what
    assert niwaki("show", what).out.strip()


def test_show_tells_a_task_and_a_recipe_of_one_name(niwaki):
    result = niwaki("show", "rotten_tomatoes").out
    assert "max_tokens = " in result and "[[stages]]" in result
    assert json.loads(niwaki("show", "rotten_tomatoes", "--json").out)["also"][0]["toml"]


def test_show_a_model_and_a_run(niwaki, model, finished):
    shape = json.loads(niwaki("show", model, "--json").out)
    assert shape["layers"] == 3 and shape["labels"] == ["bad", "good"] and not shape["plain_transformers"]
    plan = json.loads(niwaki("show", finished, "--json").out)
    assert [stage["name"] for stage in plan["stages"]] == ["teacher", "int8"]
    assert "int8" in niwaki("show", finished).out


def test_check(niwaki, recipe_file):
    plan = json.loads(niwaki("check", recipe_file, "--json").out)
    assert plan["estimate"]["stages"][0]["steps"] == 4  # half of 120 rows in batches of 16
    assert niwaki("check", recipe_file).out.splitlines()[-1].startswith("fine; ")
    assert re.search(
        r"fine; \d+ to \d+ s of CPU time .* so [\d.]+ to [\d.]+ (s|min) on \d+ core", niwaki("check", recipe_file).out
    )


def test_run_again_is_at_once_and_gives_the_report(niwaki, recipe_file, finished):
    result = niwaki("run", recipe_file, "--out", finished, "--json")
    assert result.code == 0
    assert json.loads(result.out)["schema"] == 1
    assert "there already" in result.err
    plain = niwaki("run", recipe_file, "--out", finished, "--quiet")
    assert plain.err == "" and plain.out.splitlines()[-1] == f"report: {finished / 'report.html'}"


def test_report(niwaki, finished):
    assert json.loads(niwaki("report", finished, "--json").out)["stages"]
    assert "report.html" in niwaki("report", finished).out


@pytest.mark.parametrize("engine", ["auto", "onnx", "torch"])
def test_predict_words_file_and_stdin(niwaki, model, tmp_path, monkeypatch, engine):
    texts = ["a good film.", "a dull film, and cold."]
    answers = json.loads(niwaki("predict", model, *texts, "--engine", engine, "--json").out)
    assert [answer["text"] for answer in answers] == texts
    assert all(answer["label"] in ("good", "bad") and 0.5 <= answer["probability"] <= 1 for answer in answers)
    (tmp_path / "texts").write_text("\n".join(texts))
    lines = niwaki("predict", model, "--in", tmp_path / "texts", "--engine", engine).out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [answer["label"] for answer in answers]
    monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join(texts)))
    assert niwaki("predict", model, "--engine", engine).out.splitlines() == lines


def test_predict_takes_the_stage_to_deploy_from_a_run(niwaki, finished):
    assert niwaki("predict", finished, "a good film.").code == 0


def test_eval(niwaki, model, rows_csv):
    scores = json.loads(niwaki("eval", model, "--data", rows_csv, "--json").out)
    assert scores["metric"] == "accuracy" and scores["rows"] == 24
    assert niwaki("eval", model, "--data", rows_csv, "--split", "validation").out.startswith("accuracy")
    cut = niwaki("eval", model, "--data", rows_csv, "--set", "data.test=0.25", "--json")
    assert json.loads(cut.out)["rows"] == 40
    assert niwaki("eval", model, "--data", rows_csv, "--set", "seed=1").code == 3


@pytest.mark.parametrize("by", ["stage", "run", "month", "what"])
def test_ledger(niwaki, finished, by):
    sums = json.loads(niwaki("ledger", finished, "--by", by, "--json").out)
    assert sums["by"] == by and sums["rows"]
    assert sum(row["charges"] for row in sums["rows"]) == sums["all"]["charges"]
    assert niwaki("ledger", finished, "--by", by).out.splitlines()[-1].startswith("all")


def test_ledger_of_all_runs_here_and_as_csv(niwaki, finished, monkeypatch, tmp_path):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "one").symlink_to(finished)
    monkeypatch.chdir(tmp_path)
    rows = niwaki("ledger", "--csv").out.splitlines()
    assert rows[0].startswith("time,run,stage") and len(rows) > 2


def test_measure_passes_output_and_exit_code_on(niwaki):
    result = niwaki("measure", "--", "sh", "-c", "echo hello; exit 7")
    assert (result.code, result.out) == (7, "hello\n")
    assert "CPU s in" in result.err


def test_measure_as_json_keeps_stdout_clean(niwaki):
    result = niwaki("measure", "--json", "--repeats", "2", "--place", "FRA", "--", "echo", "hello", "--token", "s3cr3t")
    value = json.loads(result.out)
    assert value["command"] == ["echo", "hello", "--token", "***"]
    assert "hello" in result.err and value["exit_code"] == 0 and len(value["readings"]) == 2
    assert value["total"]["co2e_grams"] is not None


def test_measure_reference(niwaki):
    value = json.loads(niwaki("measure", "--reference", "--json").out)
    assert {"strubell", "patterson", "equivalents"} <= set(value)
    assert "BERT base" in niwaki("measure", "--reference").out


def test_the_program_itself_and_a_reader_that_leaves(finished):
    done = subprocess.run([*PROGRAM, "show", str(finished)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "teacher" in done.stdout
    piped = subprocess.run(
        f"{sys.executable} -c 'from niwaki.cli import main; main()' list methods | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in piped.stderr and piped.returncode == 0


def test_tokenizer(niwaki, tmp_path):
    (tmp_path / "some.txt").write_text("".join(f"word {number} of many words\n" for number in range(60)))
    result = niwaki("tokenizer", tmp_path / "some.txt", "--vocab-size", "270", "--out", tmp_path / "made", "--json")
    value = json.loads(result.out)
    assert value["vocab_size"] == 270 and value["unknown"] == 0 and value["tokens_per_word"] > 1
    assert (tmp_path / "made" / "tokenizer.json").is_file()
    lines = niwaki("tokenizer", tmp_path / "some.txt", "--split", "words", "--out", tmp_path / "two").out.splitlines()
    assert "tokens (words)" in lines[0] and "held back" in lines[1]
    assert niwaki("tokenizer", tmp_path / "some.txt", "--out", tmp_path / "two").code == 3


def test_eval_of_translations_in_a_file_tells_sacrebleus_signature(niwaki, tmp_path):
    pairs = [{"source": f"house {number}", "target": f"das Haus {number} ist rot"} for number in range(60)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    task = choose_task("translation", tmp_path / "rows.jsonl", [])
    gold = task.gold(task.splits()["test"])
    for name, result in (("right", gold), ("wrong", [text.replace("rot", "blau") for text in gold])):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"prediction": text}) + "\n" for text in result))
    command = ["eval", "--task", "translation", "--data", tmp_path / "rows.jsonl", "--predictions"]
    value = json.loads(niwaki(*command, tmp_path / "wrong.jsonl", "--against", tmp_path / "right.jsonl", "--json").out)
    assert value["against"]["value"] == pytest.approx(1) and value["against"]["paired"]["shown"]
    assert value["metric"] == "bleu" and value["value"] == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert "tok:13a|smooth:exp" in value["caveat"]
    assert "tok:13a|smooth:exp" in niwaki(*command, tmp_path / "right.jsonl").out.splitlines()[-1]

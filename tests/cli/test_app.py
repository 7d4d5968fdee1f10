"""The program: help, usage, unknown names and exit codes."""

import os
import re
import signal
import subprocess
import sys

import pytest

from niwaki.cli._app import PANELS, VERBS


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
def test_wrong_usage_gives_exit_code_2_and_names_the_argument(rejected, arguments, words):
    assert words in rejected(*arguments, code=2)


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
def test_missing_files_and_unknown_names_are_rejected(rejected, arguments, words, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert words in rejected(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_gives_exit_code_130_and_one_line(niwaki, write_recipe, tmp_path, monkeypatch):
    from niwaki.run import runner

    def interrupt(*arguments: object, wait: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(runner, "run_stage", interrupt)
    result = niwaki("run", write_recipe(), "--out", tmp_path / "run")
    assert result.code == 130 and result.faults == [
        "niwaki: interrupted; what was finished is kept, the same command goes on from there"
    ]


def test_internal_error_gives_exit_code_1_and_one_line(niwaki, monkeypatch, tmp_path):
    from niwaki import listing

    def fail(kind: str) -> None:
        raise ZeroDivisionError("two\nlines")

    monkeypatch.setattr(listing, "rows_of", fail)
    result = niwaki("list")
    assert result.code == 1 and len(result.faults) == 1 and "a fault of niwaki's own: ZeroDivisionError" in result.err


PROGRAM = [sys.executable, "-c", "from niwaki.cli import main; main()"]


def test_help_lists_every_verb_in_its_group(niwaki, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    help_text = niwaki("--help").out
    shown = [
        line.split()[0] for line in help_text.partition(f"{PANELS[0]}:")[2].splitlines() if re.match(r"  \w", line)
    ]
    assert sorted(shown) == sorted(VERBS.names())
    assert [line[:-1] for line in help_text.splitlines() if line[:-1] in PANELS] == list(PANELS)
    assert shown[0] == "compress"


@pytest.mark.parametrize("verb", VERBS.names())
def test_help_contains_the_whole_description_of_each_verb(niwaki, monkeypatch, verb):
    monkeypatch.setenv("COLUMNS", "80")
    words = " ".join(niwaki("--help").out.split())
    assert f" {verb} {VERBS.entry(verb).description}" in words
    assert VERBS.module(verb).PANEL in PANELS


@pytest.mark.parametrize("verb", VERBS.names())
def test_every_verb_has_help_and_a_json_option(niwaki, verb):
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


def test_no_arguments_print_the_help(niwaki):
    import niwaki as package

    assert "Usage: niwaki" in niwaki().out and niwaki().code == 0
    assert niwaki("--version").out.strip() == package.__version__


def test_closed_pipe_ends_the_program_without_a_traceback(finished):
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

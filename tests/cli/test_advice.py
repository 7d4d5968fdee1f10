"""Advice in messages works: what users do wrong is provoked, the advice is read out of the message and followed, and what was wrong
is then right. All places in the source that give advice are provoked so, or listed with the reason why not."""

import ast
import functools
import re
import shlex
import shutil
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import niwaki as package
from niwaki.core import extras, log

from .advising import Advice, advice_in, followed
from .mistakes import MISTAKES

SOURCE = Path(package.__file__).parent
PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
VERBS = {path.stem for path in (SOURCE / "cli").glob("*.py")}
ADVICE_PATTERN = re.compile(
    rf"--set |--data |did you mean|pip install|python -m niwaki|`niwaki\b|niwaki ({'|'.join(VERBS - {'__init__'})})\b(?!:)"
)
ADVISERS = {"did_you_mean", "set_option", "data_option"}  # functions whose value is advice

# advice that no mistake here provokes: file → how the text begins → why not
LISTED = {
    "api/task_choice.py": {
        "--set {}: only settings of the data count here": "says what an override must be, and suggests none"
    },
    "api/aligning.py": {"method '{}': is not known": "tests/api/test_aligning.py"},
    "convert_gguf.py": {"python -m niwaki.convert_gguf": "the name of the program"},
    "evaluate/cost.py": {"show cost: only encoders": "tests/evaluate/test_cost.py"},
    "tasks/_test_languages.py": {"data.languages: {} has no test rows": "tests/tasks/test_test_languages.py"},
    "api/benchmarking.py": {"--stream {}": "tests/cli/test_app.py; following it takes 10 s"},
    "api/distilling.py": {"student '{}'": "an argument of Python calls, not of the command line"},
    "answers/_fill.py": {"fill: the model scores tokens": "tests/answers/test_fill.py"},
    "engines/sampling.py": {"sample: the model predicts": "tests/engines/test_sampling.py"},
    "run/validation/cascade.py": {"cascade.stages: '{}' is neither": "tests/run/validation/test_cascade.py"},
    "cli/init.py": {"{}: {} for task {}": "the result: names the commands that run the recipe"},
    "compression/candidates.py": {"method '{}'": "tests/compression/test_candidates.py"},
    "compression/rows.py": {"--set {}": "says what an override must be, and suggests none"},
    "scaffold/first_recipe.py": {"goal '{}'": "tests/scaffold/test_first_recipe.py"},
    "cli/_app.py": {"the limit on address space": "names the command that was given, and suggests none"},
    "core/advice.py": {"--set {}": "what advice is made with", "--data {}": "what advice is made with"},
    "core/extras.py": {"pip install": "what advice is made with; tests/core/test_extras.py"},
    "core/errors.py": {", did you mean": "what advice is made with"},
    "core/run_folder.py": {
        "`niwaki run` with the same recipe makes it again": "tests/core/test_run_folder.py, and kills in tests/reliability",
        "{}: was written before the run changed": "tests/core/test_run_folder.py",
        "{}; remove it, and `niwaki report`": "tests/core/test_run_folder.py",
        "{}: lines that {} was made from are gone": "tests/core/test_run_folder.py",
    },
    "core/head_folder.py": {"{}: has no head": "tests/run/test_add_head.py"},
    "core/model_integrity.py": {
        "{}: has no {}, so damage": "a notice: what is suggested is tried in tests/cli/test_verified.py"
    },
    "data/columns.py": {"set_option(": "provoked by 'two columns of tags' and 'rows of no kind'"},
    "data/label_columns.py": {"set_option(": "provoked by 'two labels' and 'two texts'"},
    "tokenization/patterns.py": {"niwaki tokenizer": "says where a pattern is from, and suggests nothing"},
    "data/reviews.py": {"data '{}'": "the package is installed here; the extra is looked up below"},
    "doctor.py": {
        "no engine; pip install": "tests/test_doctor.py",
        "pip install {}=={}": "tests/test_doctor.py",
        "niwaki needs {}; pip install": "tests/test_doctor.py",
    },
    "engines/runtimes/onnx.py": {"{}: its graph has an input": "of graphs that niwaki did not write"},
    "engines/runtimes/openvino.py": {
        "{}: openvino runs no head": "tests/run/test_add_head.py",
    },
    "run/add_head.py": {
        "{}: belongs to a finished stage": "tests/run/test_add_head.py",
        "{}: '{}' means something else": "tests/cli/test_add.py",
    },
    "run/validation/further_tasks.py": {"tasks: '{}' means": "tests/run/validation/test_further_tasks.py"},
    "engines/heads.py": {
        "{}: has no further heads": "tests/engines/test_heads.py; needs a model and another tuned one",
        "heads.{}: there is no head": "an argument of Python calls, not of the command line",
    },
    "train/settings.py": {"what is minimized": "the description of a setting"},
    "meter/carbon.py": {"did_you_mean(": "provoked by 'a place'"},
    "meter/ledger.py": {"status '{}'": "an argument of Python calls, not of the command line"},
    "meter/readers/flops.py": {"flops: kind '{}'": "an argument of Python calls, not of the command line"},
    "models/sources.py": {
        ", did you mean": "provoked by 'an embedded model'",
        "{}: is a GGUF file": "tests/test_convert_gguf.py",
    },
    "report/facts.py": {"niwaki ": "commands of the report page, run by tests/report"},
    "describe.py": {"{}: is not a plan": "tests/cli/test_show.py"},
    "run/overrides.py": {
        "--set {}: must be key.path=value": "says what an override must be, and suggests none",
    },
    "run/result.py": {
        "{}: is not made yet; `niwaki run`": "tests/run/test_runner.py",
        "{}: is not a report": "tests/cli/test_show.py; it takes a second step, removing the file",
    },
    "run/runner.py": {"a launcher (torchrun": "needs a launcher; tests/reliability/test_processes.py"},
    "run/recipe_settings.py": {"limits and objective": "the description of a setting"},
    "run/validation/search.py": {
        "search.engines: '{}'": "tests/run/validation/test_search.py",
        "{}: stage '{}' has no method": "tests/run/validation/test_search.py",
    },
    "serve/worker.py": {"serve: {} reads images": "tests/serve/test_worker.py"},
    "api/cloze_tasks.py": {"cloze: there is no task": "tests/cli/test_cloze.py"},
    "api/probing.py": {"probe: there is no probe": "tests/cli/test_probe.py"},
    "api/comparing.py": {"{}: has no finished stage": "tests/cli/test_compare.py"},
    "api/searching.py": {"is a sentence encoder": "tests/api/test_searching.py"},
    "cli/run.py": {"all stages are made": "the result: names the command that reports"},
    "engines/native/packed.py": {"{}: a text has characters": "tests/engines/native/test_packed.py"},
    "engines/native/program_file.py": {
        "`niwaki export {} --to native`": "tests/engines/native/test_program_file.py",
        "native engine: '{}' is not stored": "tests/engines/runtimes/test_native.py",
    },
    "evaluate/looking/result.py": {"<iframe": "a part of a page"},
    "methods/prune/vocabulary.py": {"vocabulary: source and target share": "tests/run/test_stock.py"},
    "serve/app.py": {"niwaki serve": "the title of the API"},
    "tasks/multi30k.py": {"did_you_mean(": "tests/tasks/test_translation.py"},
}


@pytest.fixture
def place(tmp_path, monkeypatch, bert_folder, rows_csv, recipe_file, finished):
    """A folder with all that the mistakes are made with; relative names, as users type them."""

    def created(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        shutil.copytree(bert_folder, folder / "model")
        shutil.copytree(finished, folder / "run")
        shutil.copyfile(rows_csv, folder / "rows.csv")
        text = recipe_file.read_text().replace(str(bert_folder), "model").replace(str(rows_csv), "rows.csv")
        (folder / "recipe.toml").write_text(text)
        monkeypatch.chdir(folder)
        MISTAKES[name].before(folder)
        return folder

    return created


def messages_of(niwaki, arguments: list[str]):
    """Exit code and lines, notices among them."""
    log.quiet(False)
    result = niwaki(*arguments)
    return result.code, result.err.splitlines()


def completed(advice: Advice, arguments: list[str], then: Mapping[str, str]) -> list[str]:
    """The words after `niwaki` of the command that follows the advice."""
    if advice.text in then:
        return shlex.split(then[advice.text])
    words = followed(arguments, advice)
    return words[1:] if advice.kind == "command" else words


PROVOKED: dict[str, list[str]] = {}


@pytest.mark.parametrize("name", MISTAKES)
def test_following_the_advice_gets_past_the_message(niwaki, place, name, tmp_path, monkeypatch):
    mistake = MISTAKES[name]
    place(name)
    arguments = shlex.split(mistake.command)
    _, lines = PROVOKED[name] = messages_of(niwaki, arguments)
    given = [(line, advice) for line in lines for advice in advice_in(line)]
    assert given, lines
    for number, (line, advice) in enumerate(given):
        shutil.rmtree(tmp_path / name)
        folder = place(name)
        if advice.text.startswith("python -m niwaki.convert_pickle"):
            monkeypatch.chdir(folder / "model")
            convert(shlex.split(advice.text)[3:])
            monkeypatch.chdir(folder)
            words = arguments
        else:
            words = completed(advice, arguments, mistake.then)
        code, again = messages_of(niwaki, words)
        assert line not in again, (words, again)
        assert code == mistake.code, (number, words, again)


def convert(arguments: list[str]) -> None:
    from niwaki.convert_pickle import main

    assert main(arguments) in (0, None)


def literals(path: Path) -> list[str]:
    """Texts in a source file that hold advice, with {} for what is put in; calls that make advice outside of a text, by name."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    helps = {
        id(one.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for one in node.keywords
        if one.arg in ("help", "description")
    }
    inside: set[int] = set()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in ast.walk(node)} - {id(node)}
    for node in ast.walk(tree):
        if id(node) in docs | helps | inside:
            continue
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str)):
            text = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in getattr(node, "values", [node])
            )
            if ADVICE_PATTERN.search(text) or any(name_of(part) in ADVISERS for part in ast.walk(node)):
                found.append(text)
        elif name_of(node) in ADVISERS:
            found.append(f"{name_of(node)}(")
    return found


def name_of(node: ast.AST) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


@functools.cache
def advising_files() -> dict[str, list[str]]:
    """Source file → its texts with advice, for the files that have some."""
    found = {str(path.relative_to(SOURCE)): literals(path) for path in sorted(SOURCE.rglob("*.py"))}
    return {file: texts for file, texts in found.items() if texts}


def test_every_advice_in_the_source_is_tested_or_listed():
    if PROVOKED.keys() != MISTAKES.keys():
        pytest.skip("only some of the mistakes were made in this process")
    lines = [line for _, some in PROVOKED.values() for line in some]
    missed = [
        (file, text)
        for file, texts in advising_files().items()
        for text in texts
        if not any(text.startswith(start) for start in LISTED.get(file, ())) and not is_provoked(text, lines)
    ]
    assert not missed, f"advice that no mistake in mistakes.py provokes: {missed}"


def is_provoked(text: str, lines: list[str]) -> bool:
    pattern = ".*".join(map(re.escape, text.split("{}")))
    return not text.endswith("(") and any(re.search(pattern, line) for line in lines)


def test_listed_advice_exists_in_the_source():
    for file, starts in LISTED.items():
        for start in starts:
            assert any(text.startswith(start) for text in advising_files().get(file, ())), (file, start)


def test_every_extra_that_is_suggested_exists():
    calls = re.compile(r"install_command\(['\"](\w+)")
    suggested = {extra for path in SOURCE.rglob("*.py") for extra in calls.findall(path.read_text())}
    assert {"hub"} <= suggested | extras.EXTRAS.keys() <= PYPROJECT["project"]["optional-dependencies"].keys()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("niwaki: 'rnu' is not a verb, did you mean 'run'?", [Advice("word", "run", "rnu")]),
        ("niwaki: stages.0.train.epoch: unknown key, did you mean 'epochs'?", [Advice("word", "epochs", "epoch")]),
        ("niwaki: --set stages.a.lr=1: there is no 'a', did you mean 'b'?", [Advice("word", "b", "a")]),
        ("niwaki: --set seed: must be key.path=value", []),
        (
            "x: e.g. --set data.text=a, or --set data.text=a --set 'data.second=b c'",
            [Advice("option", "--set data.text=a"), Advice("option", "--set data.text=a --set 'data.second=b c'")],
        ),
        (
            "x: has no report.json; `niwaki run` finishes it, `niwaki report` writes it",
            [Advice("command", "niwaki run"), Advice("command", "niwaki report")],
        ),
        ("x: is the folder of a run; its recipe is run/recipe.toml", []),
    ],
)
def test_commands_are_extracted_from_messages(line, expected):
    assert advice_in(line) == expected

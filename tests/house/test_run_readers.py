"""Files of a run are read through `core.run_folder`, which verifies them; a new reader that opens one itself fails here."""

import ast

from house.sources import FILES, SOURCE, check, tree_of

OF_A_RUN = {
    "plan.json",
    "report.json",
    "result.json",
    "speed.json",
    "baseline.json",
    "comparisons.json",
    "baseline.npy",
}
NAMED = {"PLAN", "REPORT", "RESULT", "MEASUREMENTS"}  # the same names as constants
ALLOWED = {
    "core/model_integrity.py": "defines the names, and compares a stage with its folder's name",
    "core/run_folder.py": "the entry point",
    "run/runner.py": "writes the run, and makes again what is damaged",
    "run/comparisons.py": "part of the runner; reads a document with its digest",
    "run/steps/measure.py": "writes result.json",
    "run/stage_store.py": "copies result.json of a verified stage",
    "run/result.py": "names report.json in a message",
    "describe.py": "names plan.json in a message",
    "report/run_files.py": "takes verified content and names the files in messages",
    "report/__init__.py": "writes report.json",
}


def names_run_files(tree: ast.AST) -> set[str]:
    constants = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    imported = [
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and (node.module or "") in ("niwaki.core.model_integrity", "niwaki.core.run_folder")
        for alias in node.names
    ]
    return {name for name in constants if name.strip("/") in OF_A_RUN} | (NAMED & set(imported))


def test_only_the_entry_point_opens_files_of_a_run():
    files = [path for path in FILES if path.relative_to(SOURCE).as_posix() not in ALLOWED]
    advice = "use niwaki.core.run_folder.open_run, which verifies the run"
    check(files, lambda path: (f"reads {name}: {advice}" for name in names_run_files(tree_of(path))))


def test_the_rule_itself_can_fail():
    assert names_run_files(ast.parse('read_json(folder / "speed.json")')) == {"speed.json"}
    assert names_run_files(ast.parse("from niwaki.core.model_integrity import PLAN")) == {"PLAN"}
    assert not names_run_files(ast.parse('"""Writes report.json and plan.json."""'))

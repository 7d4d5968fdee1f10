"""House rules that a machine can hold: nothing that runs strangers' code, no prints, short, documented."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

import niwaki

SOURCE = Path(niwaki.__file__).parent
ROOT = Path(__file__).parents[2]
FILES = sorted(SOURCE.rglob("*.py"))
MOST_LINES, MOST_FUNCTION_LINES = 350, 60
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
FORBIDDEN_CALLS = {"torch.load", "yaml.load", "eval", "exec", "compile", "__import__", "os.system", "os.popen", "np.load", "numpy.load", "print"}  # fmt: skip
FORBIDDEN_METHODS = {"extractall", "extract"}
VAGUE = {"utils", "helpers", "misc", "common"}


def dangers(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if (name in FORBIDDEN_CALLS or method in FORBIDDEN_METHODS) and not name.startswith("re."):
                found.append(f"{name} in line {node.lineno}")
            for keyword in node.keywords:
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if (keyword.arg == "trust_remote_code" and value is not False) or (keyword.arg == "shell" and value is not False):  # fmt: skip
                    found.append(f"{keyword.arg} in line {node.lineno}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_source_file_keeps_the_rules(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert dangers(tree) == []
    assert not text.strip() or ast.get_docstring(tree), "every module says what it is for"
    assert text.count("\n") <= MOST_LINES
    assert path.stem not in VAGUE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = node.end_lineno - node.lineno + 1
            assert lines <= MOST_FUNCTION_LINES, f"{node.name} has {lines} lines"


@pytest.mark.parametrize(
    "code",
    ["import pickle", "from pickle import loads", "torch.load(x)", "eval(x)", "exec(x)", "yaml.load(x)", "f.extractall()", "print(1)", "a(trust_remote_code=True)", "a(trust_remote_code=x)", "run(x, shell=True)"],
)  # fmt: skip
def test_the_rule_itself_can_fail(code):
    assert dangers(ast.parse(code))


def test_only_packages_without_content_have_no_docstring():
    assert all(path.name == "__init__.py" for path in FILES if not path.read_text(encoding="utf-8").strip())


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def test_no_tracked_file_names_a_machine():
    slash = "/"
    machine = re.compile(rf"(?<![\w.]){slash}(?:work|root|home|Users){slash}[a-z]|{slash}tmp{slash}[a-z]+")
    allowed = {"home/you", "home/me", "home/user"}
    for path in tracked():
        if path.suffix in (".png", ".parquet", ".onnx", ".safetensors", ".ico"):
            continue
        found = [hit for hit in machine.findall(path.read_text(encoding="utf-8", errors="replace")) if hit.strip(slash) not in allowed]  # fmt: skip
        assert not found, f"{path.relative_to(ROOT)}: {found[:3]}"

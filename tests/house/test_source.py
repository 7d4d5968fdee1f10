"""House rules that a machine can hold: nothing that runs strangers' code, no prints, short, documented."""

import ast
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from house.sources import FILES, ROOT, SOURCE, check, text_of, tracked, tree_of, violations

FORBIDDEN_MODULES = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal", "yaml"}
FORBIDDEN_CALLS = {
    "torch.load",
    "yaml.load",
    "eval",
    "exec",
    "compile",
    "__import__",
    "builtins.eval",
    "builtins.exec",
    "builtins.compile",
    "importlib.import_module",
    "runpy.run_path",
    "runpy.run_module",
    "os.system",
    "os.popen",
    "os.execv",
    "os.spawnv",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "print",
}
ARRAYS = {"np.load", "numpy.load"}  # read pickles by default
FORBIDDEN_METHODS = {"extractall", "extract"}
AUDITED = {
    "convert_pickle.py": {"torch.load"},  # in a child process, with an explicit flag
    "core/catalog.py": {"importlib.import_module"},  # of names that are files of niwaki's own folders
}  # file → what it alone may call
VAGUE = {"utils", "helpers", "misc", "common"}


def dangers(tree: ast.AST, allowed: Collection[str] = ()) -> list[str]:
    """What a file does that could run strangers' code, also where a function goes under another name."""
    found = []
    names = aliases(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] in FORBIDDEN_MODULES]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in FORBIDDEN_MODULES:
            found.append(str(node.module))
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            head, dot, rest = name.partition(".")
            name = names.get(head, head) + dot + rest
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in allowed:
                continue
            if (name in FORBIDDEN_CALLS or method in FORBIDDEN_METHODS) and not name.startswith("re."):
                found.append(f"{name} in line {node.lineno}")
            options = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if name in ARRAYS and options.get("allow_pickle") != "False":
                found.append(f"{name} that may read a pickle in line {node.lineno}")
            for keyword in node.keywords:
                value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
                if (keyword.arg == "trust_remote_code" and value is not False) or (
                    keyword.arg == "shell" and value is not False
                ):
                    found.append(f"{keyword.arg} in line {node.lineno}")
    return found


def aliases(tree: ast.AST) -> dict[str, str]:
    """Name in the file → what it stands for: `from torch import load as l` gives l → torch.load."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name | ast.Attribute):
            found |= {target.id: ast.unparse(node.value) for target in node.targets if isinstance(target, ast.Name)}
    return found


def broken_rules(path: Path) -> Iterator[str]:
    yield from dangers(tree_of(path), AUDITED.get(path.relative_to(SOURCE).as_posix(), ()))
    if text_of(path).strip() and not ast.get_docstring(tree_of(path)):
        yield "has no docstring: every module says what it is for"
    if path.stem in VAGUE:
        yield "the name says nothing about the content"


def test_source_files_keep_the_rules():
    check(FILES, broken_rules)


def test_a_file_that_breaks_every_rule_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr("house.sources.ROOT", tmp_path)
    monkeypatch.setattr("house.test_source.SOURCE", tmp_path)
    path = tmp_path / "utils.py"
    path.write_text("eval(x)\n")
    assert violations([path], broken_rules) == [
        "utils.py: eval in line 1",
        "utils.py: has no docstring: every module says what it is for",
        "utils.py: the name says nothing about the content",
    ]


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "torch.load(x)",
        "eval(x)",
        "exec(x)",
        "yaml.load(x)",
        "f.extractall()",
        "print(1)",
        "np.load(x)",
        "np.load(x, allow_pickle=y)",
        "numpy.load(x, allow_pickle=True)",
        "a(trust_remote_code=True)",
        "a(trust_remote_code=x)",
        "run(x, shell=True)",
        "from torch import load as l\nl(x)",
        "import torch as t\nt.load(x)",
        "run = eval\nrun(x)",
        "os.system(x)",
        "from os import popen\npopen(x)",
        "import joblib",
        "tar.extract(x)",
        "import importlib\nimportlib.import_module(x).y",
        "builtins.exec(x)",
        "run(x, **{}, shell=y)",
    ],
)
def test_the_rule_itself_can_fail(code):
    assert dangers(ast.parse(code))


def test_the_audited_module_may_do_its_one_thing_and_no_other():
    assert dangers(ast.parse("torch.load(x)"), {"torch.load"}) == []
    assert dangers(ast.parse("torch.load(x)\neval(y)"), {"torch.load"})
    text = (SOURCE / "convert_pickle.py").read_text(encoding="utf-8")
    assert text.count("torch.load(") == 1 and "weights_only=True" in text
    users = [path.name for path in FILES if "convert_pickle" in text_of(path)]
    assert set(users) == {"convert_pickle.py", "model.py"}  # that names it in a message


def test_only_packages_without_content_have_no_docstring():
    assert all(path.name == "__init__.py" for path in FILES if not text_of(path).strip())


def test_no_tracked_file_names_a_machine():
    slash = "/"
    machine = re.compile(rf"(?<![\w.]){slash}(?:work|root|home|Users){slash}[a-z]|{slash}tmp{slash}[a-z]+")
    allowed = {"home/you", "home/me", "home/user"}
    for path in tracked():
        if path.suffix in (".png", ".parquet", ".onnx", ".safetensors", ".ico"):
            continue
        found = [
            hit
            for hit in machine.findall(path.read_text(encoding="utf-8", errors="replace"))
            if hit.strip(slash) not in allowed
        ]
        assert not found, f"{path.relative_to(ROOT)}: {found[:3]}"


def unlimited_tokenization(tree: ast.AST) -> Iterator[str]:
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in calls:
        if isinstance(call, ast.Attribute) and call.attr.startswith("encode_batch"):
            yield f"line {call.lineno}: call niwaki.tokenization.tokenizing.encode_batch, which limits the time of a text"


def test_texts_are_tokenized_under_the_time_limit_only():
    limited = [SOURCE / "tokenization" / name for name in ("tokenizing.py", "pattern_probe.py")]
    files = [path for path in FILES if path not in limited]
    check(files, lambda path: unlimited_tokenization(tree_of(path)))
    assert list(unlimited_tokenization(ast.parse("tokenizer.encode_batch_fast(texts)")))

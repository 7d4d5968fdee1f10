"""The wheel, installed without extras in a new environment, predicts what the source tree predicts. Needs pip's index."""

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import niwaki
from house.exported_models import export_models
from house.wheels import built_wheel

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_wheel_predicts_without_training_packages(tmp_path):
    wheel = built_wheel(tmp_path)
    assert f"niwaki-{niwaki.__version__}-cp311-abi3-" in wheel.name
    models = export_models(tmp_path / "models")
    command = [sys.executable, str(ROOT / "tools" / "check_install.py"), str(wheel), *map(str, models.values())]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)["predictions"]
    for name, folder in models.items():
        assert {"auto", "onnx", "native"} <= set(found[name])
        for engine in ("onnx", "native"):
            answers = niwaki.load(folder, engine=engine).predict(["a lovely film", "a dull plot"])
            assert found[name][engine] == pytest.approx([answer.probability for answer in answers], abs=1e-6)


def test_version_has_one_source():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"] and "version" not in project
    tree = ast.parse((ROOT / "src/niwaki/__init__.py").read_text(encoding="utf-8"))
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "__version__"]
    assert ast.literal_eval(assigned[0].value) == niwaki.__version__


def test_oldest_versions_are_the_lower_bounds():
    shown = subprocess.check_output([sys.executable, ROOT / "tools" / "oldest.py", "train"], text=True).split()
    pins = dict(line.split("==") for line in shown)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["train"]]
    assert len(pins) == len(wanted) and pins["torch"] == "2.10" and pins["numpy"] == "2"


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda path: path.name)
def test_actions_are_pinned_by_commit(path):
    """A tag can be moved, a commit cannot."""
    uses = [line.split("uses:")[1].split()[0] for line in path.read_text().splitlines() if "uses:" in line]
    assert uses
    for action in uses:
        commit = action.partition("@")[2]
        assert len(commit) == 40 and not set(commit) - set("0123456789abcdef"), action

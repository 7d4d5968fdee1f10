"""A missing optional package is named in one line, with the command that installs it."""

import subprocess
import sys
from pathlib import Path

import pytest

import niwaki
from niwaki.core import extras
from niwaki.core.errors import NiwakiError
from niwaki.core.extras import MissingPackage, explain_missing, guarded, missing_package


@pytest.fixture
def without(monkeypatch):
    """Makes packages look as if they were not installed."""
    return lambda *names: [monkeypatch.setitem(sys.modules, name, None) for name in names]


def test_missing_package_names_the_extra(without):
    without("sacrebleu")
    with pytest.raises(MissingPackage) as caught, explain_missing():
        import sacrebleu  # noqa: F401
    assert str(caught.value) == 'this needs sacrebleu, which is not installed; pip install "niwaki[train]"'
    assert isinstance(caught.value, ImportError) and isinstance(caught.value, NiwakiError)
    assert caught.value.name == "sacrebleu"


def test_other_import_errors_pass(without):
    without("colorsys", "torch.nothing")
    with pytest.raises(ModuleNotFoundError, match="colorsys"), explain_missing():
        import colorsys  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match=r"torch\.nothing") as caught, explain_missing():
        import torch.nothing  # noqa: F401
    assert not isinstance(caught.value, MissingPackage)


def python(code: str, *absent: str) -> str:
    """What a new process prints in which packages are absent."""
    hide = "".join(f"sys.modules[{name!r}] = None; " for name in absent)
    done = subprocess.run([sys.executable, "-c", f"import sys; {hide}{code}"], capture_output=True, text=True)
    return (done.stdout + done.stderr).strip()


def test_public_functions_explain_missing_packages():
    shown = python("import niwaki; niwaki.check('rotten_tomatoes')", "pyarrow").splitlines()[-1]
    assert shown == (
        'niwaki.core.extras.MissingPackage: this needs pyarrow, which is not installed; pip install "niwaki[train]"'
    )
    assert niwaki.load.__name__ == "load" and niwaki.load.__doc__


@pytest.mark.parametrize(("words", "package"), [("run", "pyarrow"), ("report runs", "jinja2")])
def test_command_line_prints_one_line(words, package):
    shown = python(f"from niwaki.cli._app import run; sys.exit(run({words.split()}))", package)
    assert shown == f'niwaki: this needs {package}, which is not installed; pip install "niwaki[train]"'


def test_public_names_that_cannot_be_imported_are_explained():
    assert "needs onnxruntime" not in python("import niwaki; niwaki.load", "torch")
    shown = python("sys.modules['niwaki.api'] = None; import niwaki; niwaki.load").splitlines()[-1]
    assert "niwaki.api" in shown and "MissingPackage" not in shown  # a broken installation is not explained away


def test_values_other_than_functions_are_not_wrapped():
    assert guarded(Path) is Path and guarded(3) == 3
    assert guarded(extras.extra_of)("torch") == "train"


def test_missing_package_is_none_for_installed_and_core_packages(monkeypatch):
    assert missing_package("torch") is None and missing_package("numpy") is None and missing_package("") is None
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    assert missing_package("openvino") == 'openvino is not installed; pip install "niwaki[openvino]"'
    assert missing_package("numpy") is None

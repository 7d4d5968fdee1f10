"""An installable package with entry points: created, extended, and never overwritten."""

import tomllib

import pytest

from niwaki.core.errors import InputError
from niwaki.scaffold.package import add_entry_point, module_name, new_in_package


def files(root):
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def points(root):
    return tomllib.loads((root / "pyproject.toml").read_text())["project"]["entry-points"]


def test_a_package_is_created_with_its_entry_point(tmp_path):
    paths = new_in_package("method", "soft_penalty", "my-package", tmp_path)
    root = tmp_path / "my-package"
    assert files(root) == {
        "pyproject.toml",
        "README.md",
        "src/my_package/__init__.py",
        "src/my_package/soft_penalty.py",
        "tests/test_soft_penalty.py",
    }
    assert {str(path.relative_to(root)) for path in paths} == files(root)
    assert points(root) == {"niwaki.methods": {"soft_penalty": "my_package.soft_penalty"}}
    assert "from my_package.soft_penalty import SoftPenalty" in (root / "tests/test_soft_penalty.py").read_text()


def test_an_existing_package_is_extended(tmp_path):
    new_in_package("method", "first", "garden", tmp_path)
    project = tmp_path / "garden" / "pyproject.toml"
    project.write_text(project.read_text() + "\n[tool.mine]\nkey = 1\n")
    (tmp_path / "garden" / "README.md").write_text("mine")
    new_in_package("method", "second", "garden", tmp_path)
    new_in_package("recipe", "small-2", "garden", tmp_path)
    new_in_package("recipe", "small-3", "garden", tmp_path)
    new_in_package("engine", "fast", "garden", tmp_path)
    assert points(tmp_path / "garden") == {
        "niwaki.methods": {"first": "garden.first", "second": "garden.second"},
        "niwaki.recipes": {"garden": "garden.recipes"},
        "niwaki.engines": {"fast": "garden.fast"},
    }
    assert tomllib.loads(project.read_text())["tool"]["mine"] == {"key": 1}
    assert (tmp_path / "garden" / "README.md").read_text() == "mine"
    assert "src/garden/recipes/small-3.toml" in files(tmp_path / "garden")


def test_an_existing_entry_is_not_overwritten(tmp_path):
    new_in_package("method", "same", "garden", tmp_path)
    before = (tmp_path / "garden" / "pyproject.toml").read_text()
    with pytest.raises(InputError, match=r"same.py: exists already"):
        new_in_package("task", "same", "garden", tmp_path)
    assert (tmp_path / "garden" / "pyproject.toml").read_text() == before


def test_an_entry_point_of_another_module_is_not_replaced(tmp_path):
    text = '[project.entry-points."niwaki.tasks"]\nx = "other.x"\n'
    with pytest.raises(InputError, match=r"niwaki.tasks has an entry 'x' already \(other.x\)"):
        add_entry_point(text, "niwaki.tasks", "x", "mine.x", tmp_path)
    assert add_entry_point(text, "niwaki.tasks", "x", "other.x", tmp_path) == text


def test_an_inline_table_is_left_to_the_user(tmp_path):
    text = '[project]\nentry-points = {"niwaki.tasks" = {x = "other.x"}}\n'
    with pytest.raises(InputError, match="in lines of its own"):
        add_entry_point(text, "niwaki.tasks", "y", "mine.y", tmp_path)


def test_a_broken_project_file_is_reported(tmp_path):
    (tmp_path / "garden").mkdir()
    (tmp_path / "garden" / "pyproject.toml").write_text("[project\n")
    with pytest.raises(InputError, match=r"pyproject.toml: is not TOML"):
        new_in_package("task", "x", "garden", tmp_path)


@pytest.mark.parametrize("name", ["", "Big", "a/b", "../x", "1a", "a b", "x" * 41, "class"])
def test_an_invalid_package_name_is_rejected(name):
    with pytest.raises(InputError, match="lower-case words"):
        module_name(name)


@pytest.mark.parametrize("name", ["niwaki", "json", "email"])
def test_a_package_cannot_hide_another_module(name):
    with pytest.raises(InputError, match="would hide the module"):
        module_name(name)

"""Memory and disk are checked before any work, on the disk of the run and on that of the teacher cache."""

import shutil

import pytest

from niwaki import api
from niwaki.core.errors import InputError
from niwaki.run import room


def test_missing_disk_space_is_reported_before_work(tmp_path, recipe_file, monkeypatch):
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(InputError, match=r"this run needs about .* MB and 0 MB are free"):
        api.run(recipe_file, out=tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").rglob("*")] == [".lock"]


@pytest.fixture
def needs(tmp_path, recipe_file, monkeypatch):
    """What a run asks of the disk before it begins: (folder, bytes), for a teacher whose layers are kept."""

    def required(*overrides: str) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        monkeypatch.setattr(room, "require_space", lambda folder, need, what: found.append((folder.name, need)))
        monkeypatch.setattr(room, "require_memory", lambda need, what: (_ for _ in ()).throw(InputError("enough")))
        layers = 'stages.1.methods=[{use="student",layers=2},{use="tinybert"}]'
        with pytest.raises(InputError, match="enough"):
            api.run(recipe_file, out=tmp_path / "runs" / "run", overrides=[layers, *overrides])
        return found

    return required


def test_disk_check_includes_the_teacher_cache(needs, tmp_path, monkeypatch):
    none = needs("cache.gigabytes=0")
    ((name, need),) = needs()
    assert none[0][0] == name == "run"
    cached = need - none[0][1]
    assert cached > 100_000  # layers of some hundred rows
    (tmp_path / "runs" / ".teachers").mkdir(parents=True)
    (tmp_path / "runs" / ".teachers" / "block").write_bytes(bytes(50_000))
    assert needs()[0][1] == need - 50_000  # what is there may be what is needed
    monkeypatch.setattr(room, "disk_of", lambda path: path.name == ".teachers")
    assert needs() == [("run", none[0][1]), (".teachers", cached - 50_000)]

"""The teacher cache stays sound when runs are killed and when several runs share it."""

import os
import signal
import time

import numpy as np

from niwaki.train import teacher_cache
from niwaki.train.teacher_cache import LOCK, TeacherCache

KEY, NUMBERS = "ab" * 20, np.arange(50, dtype=np.float32)


def dies_in_put(folder) -> None:
    """A process that is killed between writing a block and putting it in its place."""
    child = os.fork()
    if child == 0:
        teacher_cache.save_file = lambda *given, **more: os.kill(os.getpid(), signal.SIGKILL)
        TeacherCache(folder, 1 << 20).put(KEY, NUMBERS)
    os.waitpid(child, 0)


def test_what_a_kill_left_half_written_is_gone_with_the_next_run(tmp_path):
    dies_in_put(tmp_path)
    assert len(list(tmp_path.glob("ab/.*.tmp-*"))) == 1
    store = TeacherCache(tmp_path, 1 << 20)
    assert list(tmp_path.glob("ab/*")) == [] and store.find(KEY) is None
    assert np.array_equal(store.put(KEY, NUMBERS), NUMBERS)
    assert np.array_equal(TeacherCache(tmp_path, 1 << 20).find(KEY), NUMBERS)


def test_unfinished_files_of_another_run_are_left(tmp_path):
    """It is waited for, not swept away."""
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        real = teacher_cache.save_file

        def slow(*given, **more):
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            real(*given, **more)

        teacher_cache.save_file = slow
        TeacherCache(tmp_path, 1 << 20).put(KEY, NUMBERS)
        os._exit(0)
    os.read(ready[0], 1)  # it holds the lock, and its block is half-written
    other = os.fork()
    if other == 0:
        found = TeacherCache(tmp_path, 1 << 20).find(KEY)
        os._exit(0 if found is not None and np.array_equal(found, NUMBERS) else 1)
    time.sleep(0.3)
    ended, _ = os.waitpid(other, os.WNOHANG)
    os.write(go[1], b"x")
    assert ended == 0, "it did not wait"
    assert [os.waitpid(one, 0)[1] for one in (child, other)] == [0, 0]


def test_without_a_folder_nothing_is_created(tmp_path):
    store = TeacherCache(tmp_path / "none", 100)
    assert store.find(KEY) is None and store.make_room({KEY: 100}) and not store.make_room({KEY: 101})
    assert list(tmp_path.iterdir()) == []


def test_where_all_is_there_nothing_is_written(tmp_path):
    """Not even the lock, and whatever the limit is now."""
    TeacherCache(tmp_path, 10**6).put(KEY, NUMBERS)
    (tmp_path / LOCK).chmod(0o444)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    store = TeacherCache(tmp_path, 1)
    assert store.make_room({KEY: NUMBERS.nbytes}) and np.array_equal(store.find(KEY), NUMBERS)
    assert {path: path.stat().st_mtime_ns for path in before if path.is_file()} == {
        path: time for path, time in before.items() if path.is_file()
    }


def test_other_files_in_the_cache_folder_are_left(tmp_path):
    """A user may name any folder, also one of his own things: only blocks make room, and only their halves are swept."""
    own = [
        tmp_path / name / "file"
        for name in ("data/thesis", "src/.env.tmp-mine", "ab/notes", f"ab/{'c' * 30}", "ab/.notes.tmp-1")
    ]
    for path in own:
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(1000))
    limit = 2 * NUMBERS.nbytes
    TeacherCache(tmp_path, limit).put(KEY, NUMBERS)
    store = TeacherCache(tmp_path, limit)
    assert store.make_room({"cd" * 20: limit - 1}) and store.find(KEY) is None  # an older block went
    assert all(path.exists() for path in own)

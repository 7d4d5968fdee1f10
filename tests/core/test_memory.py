"""Free memory: the machine's, or what the narrowest group around this process leaves; files kept at hand are free."""

import pytest

from niwaki.core import memory
from niwaki.core.errors import InputError
from niwaki.core.memory import free_memory, is_out_of_memory

MEMINFO = "MemTotal: 9 kB\nMemAvailable: 4 kB\nHugePages_Total: 0\n"


@pytest.fixture
def proc(tmp_path):
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "meminfo").write_text(MEMINFO)
    return tmp_path / "proc"


def group(folder, limit, used, files=0, version=2):
    folder.mkdir(parents=True, exist_ok=True)
    names = ("memory.max", "memory.current") if version == 2 else ("memory.limit_in_bytes", "memory.usage_in_bytes")
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 7\ninactive_file {files}\nactive_file 1\n")


def test_without_a_limit_it_is_the_machines(proc, tmp_path):
    assert free_memory(proc, tmp_path / "none") == 4096
    group(tmp_path / "groups", "max", 10**9)
    assert free_memory(proc, tmp_path / "groups") == 4096
    assert free_memory(tmp_path / "no", tmp_path / "none") is None


def test_a_container_sees_its_group_as_the_root(proc, tmp_path):
    group(tmp_path / "groups", 3000, 1000)
    assert free_memory(proc, tmp_path / "groups") == 2001
    group(tmp_path / "groups", 3000, 5000)
    assert free_memory(proc, tmp_path / "groups") == 0


def test_the_page_cache_counts_as_free(proc, tmp_path):
    group(tmp_path / "groups", 3000, 2900, files=2500)
    assert free_memory(proc, tmp_path / "groups") == 2601


def test_the_narrowest_group_above_counts(proc, tmp_path):
    (proc / "self" / "cgroup").write_text("0::/slurm/job_3/step\n")
    group(tmp_path / "groups" / "slurm" / "job_3", 1500, 500)
    group(tmp_path / "groups" / "slurm" / "job_3" / "step", "max", 500)
    group(tmp_path / "groups" / "slurm" / "job_4", 10, 0)
    assert free_memory(proc, tmp_path / "groups") == 1001


def test_the_first_version_of_groups(proc, tmp_path):
    (proc / "self" / "cgroup").write_text("9:name=systemd:/\n4:cpu,memory:/docker/x\n1:cpu:/narrow\n")
    group(tmp_path / "groups" / "memory", 9223372036854771712, 500, version=1)
    assert free_memory(proc, tmp_path / "groups") == 4096
    group(tmp_path / "groups" / "memory" / "docker" / "x", 900, 500, version=1)
    group(tmp_path / "groups" / "narrow", 3, 0)
    assert free_memory(proc, tmp_path / "groups") == 401


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("std::bad_alloc"),
        RuntimeError("CUDA out of memory. Tried to allocate 20 MiB"),
    ],
)
def test_errors_that_mean_too_little_memory(error):
    assert is_out_of_memory(error)
    try:
        try:
            raise error
        except (MemoryError, OSError, ImportError, RuntimeError):
            raise InputError("config.json: cannot be read") from None
    except InputError as wrapped:
        assert is_out_of_memory(wrapped)


def test_other_errors_do_not(tmp_path):
    assert (
        not is_out_of_memory(None)
        and not is_out_of_memory(ValueError("config"))
        and not is_out_of_memory(OSError(28, "No space left"))
    )


def test_the_limit_on_address_space_counts(proc, tmp_path, monkeypatch):
    (proc / "self" / "status").write_text("Name: python\nVmSize: 1 kB\n")
    monkeypatch.setattr(memory, "address_space_limit", lambda: 3000)
    assert free_memory(proc, tmp_path / "none") == 3000 - 1024

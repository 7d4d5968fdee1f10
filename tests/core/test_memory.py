"""Free memory: the machine's, or what the narrowest group around this process leaves; files kept at hand are free."""

import pytest

from niwaki.core.memory import free_memory

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


def test_files_kept_at_hand_are_free(proc, tmp_path):
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

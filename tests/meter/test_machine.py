"""The description of the machine."""

import os
import sys
from pathlib import Path

from niwaki.meter.machine import machine, processor


def test_description_names_processor_and_memory() -> None:
    here = machine()
    assert here["vcpus"] == os.cpu_count() and here["memory_bytes"] > 2**28 and here["cpu"]
    assert 0 <= here["steal"] <= 1 and here["load"] >= 0
    assert sys.platform != "linux" or isinstance(here["virtualised"], bool | None)


def test_missing_processor_file_is_no_error(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(
        "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Xeon\n"
        "flags\t: fpu hypervisor\n\nvendor_id: x\n"
    )
    found = processor(str(file))
    assert (found["vendor"], found["family"], found["model"], found["virtualised"]) == ("GenuineIntel", 6, 207, True)
    assert found["stepping"] is None and processor(str(tmp_path / "none"))["family"] is None

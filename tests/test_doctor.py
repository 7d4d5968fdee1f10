"""The doctor reports what the code then does, is quick, and exits with 1 if something must be fixed."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from niwaki import doctor
from niwaki.cli._app import run
from niwaki.core.errors import InputError

ROOT = Path(__file__).parents[1]
HEAVY = {"torch", "transformers", "numpy", "pyarrow", "sklearn", "scipy", "onnxruntime", "onnx", "accelerate"}


def finding(report: dict, name: str) -> dict:
    return next(one for one in report["findings"] if one["name"] == name)


def test_what_it_says_is_what_training_and_prediction_do(tmp_path):
    from niwaki.engines.engine_choice import engines
    from niwaki.engines.native.library import best
    from niwaki.meter import meter
    from niwaki.train.precision import resolve_precision

    report = doctor.examine(tmp_path)
    assert finding(report, "training")["use"] == resolve_precision("auto")
    packages = {name: engine.package for name, engine in engines().items() if engine.preference and engine.package}
    assert doctor.engine_packages() == packages and finding(report, "engine")["use"] == "onnx"
    assert finding(report, "native")["use"] == (best() or "ONNX Runtime instead")
    assert finding(report, "openvino")["use"] == "in the race of the engines"
    with meter() as window:
        sum(range(10_000))
    assert finding(report, "energy")["use"].split(", ")[0] in window.reading.source.casefold()
    assert finding(report, "disk")["use"] == str(tmp_path)


@pytest.mark.parametrize(
    ("flags", "training", "int8"),
    [
        ({"amx_tile", "amx_bf16"}, "bf16", "smaller and faster"),
        ({"avx512_bf16", "avx512_vnni"}, "bf16", "smaller and faster"),
        ({"avx2"}, "fp32", "smaller; hardly faster"),
    ],
)
def test_the_processor_decides(flags, training, int8):
    report = doctor.examine(flags=flags)
    assert finding(report, "training")["use"] == training and finding(report, "int8")["why"].startswith(int8)


def test_the_tested_versions_are_those_of_the_constraints():
    pins = dict(
        line.lower().replace("_", "-").split("==")
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if "==" in line
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {"core": project["dependencies"], "train": project["optional-dependencies"]["train"]}
    names = {extra: [re.match(r"[\w-]+", text)[0].lower() for text in texts] for extra, texts in wanted.items()}
    tested = {extra: {name: pins[name] for name in names[extra]} for extra in names}
    assert json.loads(doctor.TESTED.read_text()) == tested


def test_without_torch_the_packages_of_training_are_no_fault(monkeypatch):
    installed = doctor._version
    monkeypatch.setattr(doctor, "_version", lambda package: "" if package == "torch" else installed(package))
    report = doctor.examine()
    assert report["fine"] and finding(report, "training")["use"] == "prediction only"
    assert "niwaki[train]" in finding(report, "training")["why"]
    assert "torch" not in [one["name"] for one in report["findings"]] and finding(report, "numpy")


@pytest.mark.parametrize(
    ("have", "use", "fault"),
    [
        ("2.1.0", "tested version", ""),
        ("2.1.0+cpu", "tested version", ""),
        ("2.4", "allowed, not tested", ""),
        ("1.9", "outside the range that is allowed", "niwaki needs"),
        ("", "nothing", "pip install x==2.1.0"),
    ],
)
def test_packages(have, use, fault):
    found = doctor.package("x", "2.1.0", have, {"x": SpecifierSet(">=2,<3")})
    assert found.use == use and found.fault.startswith(fault) and bool(found.fault) == bool(fault)


def test_faults_end_with_1_and_are_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "free_memory", lambda: 10)
    monkeypatch.setattr(doctor, "MIN_DISK", 1e18)
    assert run(["doctor", "--json", "--out", str(tmp_path)]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [fault.split(":")[0] for fault in report["faults"]] == ["memory", "disk"] and not report["fine"]

    def reject(folder):
        raise InputError(f"{folder}: cannot be written to")

    monkeypatch.setattr(doctor, "require_writable", reject)
    assert "cannot be written to" in finding(doctor.examine(tmp_path), "disk")["fault"]


def test_an_engine_that_may_be_missing_is_no_fault(monkeypatch):
    """What it does with 8-bit weights depends on the processor."""
    assert "integer products" in doctor.openvino({"avx512_vnni"}).why and "floats" in doctor.openvino({"avx2"}).why
    monkeypatch.setattr(doctor, "_version", lambda package: "")
    found = doctor.openvino(set())
    assert found.use == "nothing" and 'pip install "niwaki[openvino]"' in found.why and not found.fault


def test_a_machine_without_proc_is_no_fault(tmp_path):
    assert doctor.cpu_flags(tmp_path / "none") == set()
    (tmp_path / "cpuinfo").write_text("processor : 0\nflags\t\t: fpu avx2\n\nprocessor : 1\nflags : fpu\n")
    assert doctor.cpu_flags(tmp_path / "cpuinfo") == {"fpu", "avx2"}
    assert doctor.graphics_card(tmp_path / "none") == ""


def test_as_a_module_it_is_the_verb_and_imports_nothing_heavy():
    code = f"import sys, runpy; sys.argv[1:] = ['--json']\ntry:\n    runpy.run_module('niwaki.doctor', run_name='__main__')\nexcept SystemExit: pass\nsys.stderr.write(' '.join({HEAVY} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == "" and {"fine", "faults", "findings"} <= json.loads(done.stdout).keys()


def test_kernels_for_tests_are_not_reported():
    assert {"plain", "amx_in_c", "avx_vnni_evex"}.isdisjoint(doctor.native().found.split(", "))

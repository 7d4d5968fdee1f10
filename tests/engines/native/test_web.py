"""Kernels in WebAssembly: the bits of plain C, and the demo page in a browser. Needs emscripten, node and chromium."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tiny
from engines.native.packing import write_drawn
from engines.native.test_cross import NATIVE, SEEDS, built, outputs
from niwaki.engines.native.packed import Packed
from niwaki.engines.native.packed_file import pack
from niwaki.models.edits.int8 import Int8
from report.browser import Browser

ROOT = Path(__file__).parents[3]
FLAGS = ("-msimd128", "-DUNFUSED", "-s", "ALLOW_MEMORY_GROWTH=1", "-s", "NODERAWFS=1", "-s", "TOTAL_STACK=1MB")
NODE = ("node", "--no-experimental-fetch")  # emscripten of before node had one takes it for a browser's

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("emcc") is None, reason="apt-get install emscripten node-acorn"),
]


def test_kernels_give_the_same_bits_as_c(tmp_path, monkeypatch):
    monkeypatch.setenv("NODE_PATH", "/usr/share/nodejs")  # where Debian keeps what emcc needs
    sources = [*map(str, sorted(NATIVE.glob("*.c"))), str(ROOT / "tests/engines/native/cross.c")]
    flags = ["-O3", "-std=gnu11", "-fno-math-errno", "-ffp-contract=off", f"-I{NATIVE}", *FLAGS]
    subprocess.run(["emcc", *flags, *sources, "-o", str(tmp_path / "cross.js")], check=True)
    done = subprocess.run([*NODE, str(tmp_path / "cross.js"), "wasm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "wasm: the same bits as four_in_c at 300 shapes" in done.stdout


def test_networks_give_the_same_bits_as_c(tmp_path, monkeypatch):
    """Of files for 32 bits there, and for 64 bits here."""
    monkeypatch.setenv("NODE_PATH", "/usr/share/nodejs")
    there = [write_drawn(seed, "wasm", tmp_path)[1] for seed in SEEDS]
    here = [write_drawn(seed, "arm", tmp_path)[1] for seed in SEEDS]
    wanted, kernels = outputs([str(built("cc", tmp_path / "here", "-DUNFUSED"))], here)
    assert kernels == {"four_in_c"}
    found, kernels = outputs([*NODE, str(built("emcc", tmp_path / "there.js", *FLAGS))], there)
    assert kernels == {"wasm"} and found.replace("wasm-", "arm-") == wanted


def test_page_answers_in_a_browser(tmp_path):
    model = tiny.model("bert", layers=2)
    model.apply_edit(Int8())
    folder = tiny.deployed(model, tmp_path / "model")
    pack(folder, tmp_path / "web.niwaki", "wasm")
    pack(folder, tmp_path / "here.niwaki")
    command = [sys.executable, str(ROOT / "tools/web_demo.py"), str(tmp_path / "web.niwaki")]
    subprocess.run([*command, "--out", str(tmp_path / "demo.html")], check=True)
    browser, opened = Browser(tmp_path / "profile"), Packed(tmp_path / "here.niwaki")
    try:
        browser.open(tmp_path / "demo.html")
        assert browser.evaluate("opened.then((model) => model.kernels)") == "wasm"
        for text in ("good film", "dull, naïve", "good " * 300):
            ids, types = opened.tokenize(text)
            found = browser.evaluate(f"opened.then((model) => model.tokenize({text!r}))")
            assert found == {"ids": ids, "types": types}
            logits = browser.evaluate(f"opened.then((model) => model.predict({text!r}).logits)")
            np.testing.assert_allclose(logits, opened.logits([(ids, types)])[0][0], atol=1e-2)
        message = "opened.then((model) => { try { model.predict('日本語') } catch (error) { return error.message } })"
        assert "only the tokenizers library reads" in browser.evaluate(message)
        browser.evaluate("field.value = 'dull'; field.dispatchEvent(new Event('input'))")
        shown = browser.evaluate("[...document.querySelectorAll('.answer')].map((one) => one.textContent)")
        assert len(shown) == opened.outputs and all("%" in one for one in shown)
    finally:
        browser.close()

"""Writes one HTML file with a model, the kernels in WebAssembly and a field to type into. It works from disk, without a network.

    niwaki pack MODEL --processor wasm --out model.niwaki
    python tools/web_demo.py model.niwaki --out demo.html

Needs emscripten (`apt-get install emscripten`). examples/web/niwaki.js is the part that other pages can use.
"""

import argparse
import base64
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEB = ROOT / "examples/web"
# the fused sums of other kernels have no counterpart; the system's files are not there
FLAGS = ["-O3", "-msimd128", "-DUNFUSED", "-DNIWAKI_NO_FILES", "--no-entry"]
SETTINGS = ["STANDALONE_WASM=1", "ALLOW_MEMORY_GROWTH=1", "MAXIMUM_MEMORY=2GB"]
FUNCTIONS = [
    *(
        "open_bytes",
        "error",
        "outputs",
        "per_token",
        "answer",
        "max_tokens",
        "label",
        "kernels_of",
        "tokenize",
        "predict",
    ),
]


def build_kernels(out: Path) -> Path:
    """niwaki.wasm, with the functions of niwaki.h."""
    if shutil.which("emcc") is None:
        sys.exit("web_demo: emcc is not installed; apt-get install emscripten")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["ext-modules"][0]
    exported = json.dumps([*(f"_niwaki_{name}" for name in FUNCTIONS), "_malloc", "_free"])
    command = ["emcc", *settings["extra-compile-args"], *FLAGS, *(str(ROOT / one) for one in settings["sources"])]
    for setting in [*SETTINGS, f"EXPORTED_FUNCTIONS={exported}"]:
        command += ["-s", setting]
    subprocess.run([*command, "-o", str(out)], check=True)
    return out


def page(kernels: bytes, model: bytes) -> str:
    text = (WEB / "page.html").read_text().replace("/*LOADER*/", (WEB / "niwaki.js").read_text())
    for place, data in (("/*KERNELS*/", kernels), ("/*MODEL*/", model)):
        text = text.replace(place, base64.b64encode(data).decode())
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, help="what `niwaki pack --processor wasm` wrote")
    parser.add_argument("--out", type=Path, default=Path("demo.html"), help="page to write")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kernels = build_kernels(Path(folder) / "niwaki.wasm").read_bytes()
    given.out.write_text(page(kernels, given.model.read_bytes()))
    print(json.dumps({"page": str(given.out), "kernels_bytes": len(kernels), "bytes": given.out.stat().st_size}))


if __name__ == "__main__":
    main()

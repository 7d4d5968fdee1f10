"""Runs one engine in its own process for peers.py: reads requests and writes answers as JSON lines."""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from peers_engines import (
    THREADS,
    Compiled,
    CompiledHalf,
    CTranslate2,
    Eager,
    EagerHalf,
    OpenVino,
    OpenVinoHalf,
    OpenVinoInt8,
    Ort,
    OrtInt8,
    TorchAo,
)


class Niwaki:
    """Predicts with niwaki's predictor on the output of `niwaki export`."""

    engine, kernels = "native", None

    def __init__(self, folder: Path, work: Path) -> None:
        self.folder, self.predictors = work / "exported", {}  # type: ignore[var-annotated]

    def predictor(self, tokens: int) -> Any:
        from niwaki.engines.cascade import open_predictor
        from niwaki.engines.runtimes.native import Native

        predictor = open_predictor(self.folder, self.engine, THREADS, tokens)
        if self.kernels:
            predictor.runtime = predictor.scheduler.runtime = Native(self.folder, THREADS, self.kernels)
        return predictor

    def answer(self, texts: list[str], tokens: int) -> list[int]:
        predictor = self.predictors[tokens] = self.predictors.get(tokens) or self.predictor(tokens)
        return [predictor.labels.index(value) for value in predictor.values(texts)]


class NiwakiAvx2(Niwaki):
    kernels = "avx2"


class NiwakiOnnx(Niwaki):
    engine = "onnx"


class NiwakiFloat(Niwaki):
    def __init__(self, folder: Path, work: Path) -> None:
        super().__init__(folder, work)
        self.folder = work / "exported-float"


class NiwakiStudent(Niwaki):
    """Another model for the same task, or a cascade, by its name in `students`."""

    def __init__(self, folder: Path, work: Path) -> None:
        super().__init__(folder, work)
        self.folder = work / "students" / sys.argv[1].removeprefix(STUDENT)
        self.engine = "native" if list(self.folder.rglob("native.json")) else "onnx"


STUDENT = "niwaki student "
AVX2 = ", AVX2 alone"  # suffix of the name of an engine restricted to AVX2
AVX2_LIMITS = {
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "CT2_FORCE_CPU_ISA": "AVX2",
    "ATEN_CPU_CAPABILITY": "avx2",
}  # ONNX Runtime cannot be restricted
PEERS = {
    "transformers eager fp32": Eager,
    "transformers eager bf16": EagerHalf,
    "torch.compile fp32": Compiled,
    "torch.compile bf16": CompiledHalf,
    "torchao int8": TorchAo,
    "ONNX Runtime fp32": Ort,
    "ONNX Runtime int8": OrtInt8,
    "OpenVINO fp32": OpenVino,
    "OpenVINO bf16": OpenVinoHalf,
    "OpenVINO int8 (NNCF)": OpenVinoInt8,
    "CTranslate2 int8": CTranslate2,
    "niwaki native int8": Niwaki,
    f"niwaki native int8{AVX2}": NiwakiAvx2,
    "niwaki native fp32": NiwakiFloat,
    "niwaki onnx int8": NiwakiOnnx,
}
PEERS |= {
    f"{name}{AVX2}": PEERS[name]
    for name in ("transformers eager fp32", "OpenVINO fp32", "OpenVINO int8 (NNCF)", "CTranslate2 int8")
}


def timed(peer: Any, texts: list[str], tokens: int) -> tuple[float, list[int]]:
    start = time.perf_counter()
    found = peer.answer(texts, tokens)
    return time.perf_counter() - start, found


def main() -> None:
    name, folder, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # so that output of libraries is not read as an answer
    try:
        peer = (NiwakiStudent if name.startswith(STUDENT) else PEERS[name])(folder, work)
    except Exception as error:  # noqa: BLE001 - the error is recorded
        out.write(
            json.dumps({"fault": f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}"})
            + "\n"
        )
        return
    out.write(json.dumps({"ready": True}) + "\n")
    out.flush()
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("single"):
            answer = {"seconds": [timed(peer, [text], request["tokens"])[0] for text in request["texts"]]}
        else:
            answer = dict(zip(("seconds", "labels"), timed(peer, request["texts"], request["tokens"]), strict=True))
        out.write(json.dumps(answer) + "\n")
        out.flush()


if __name__ == "__main__":
    main()

"""Quantizes a classifier with one tool, as its documentation shows; runs in the tool's environment for against_compressors.py.

Leaves logits of the test rows, and says how many bytes the compressed model takes, or why there is none.
"""

import importlib.metadata
import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np

NAMES = ("input_ids", "attention_mask", "token_type_ids")
CALIBRATION = 300  # NNCF's default
Run = Callable[[np.ndarray, np.ndarray], np.ndarray]


def main(request: dict) -> None:
    out, start = Path(request["made"]), time.monotonic()
    rows = np.load(request["rows"], allow_pickle=False)
    try:
        run, files, packages = PEERS[request["peer"]](Path(request["model"]), out, rows)
        seconds = time.monotonic() - start
        np.save(out / "logits.npy", answers(run, texts(rows, "test")))
    except Exception as error:  # noqa: BLE001 the error is the result
        answer = {"refused": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:300]}
    else:
        answer = {
            "bytes": sum(file.stat().st_size for file in files),
            "seconds": seconds,
            "versions": {name: importlib.metadata.version(name) for name in packages},
        }
    sys.stdout.write("\n" + json.dumps(answer) + "\n")


def texts(rows: dict, part: str) -> list[np.ndarray]:
    ids, starts = rows[part], rows[f"{part}_starts"]
    return [ids[one:end].astype(np.int64) for one, end in pairwise(starts)]


def answers(run: Run, found: list[np.ndarray]) -> np.ndarray:
    """One text per call, so there is no padding and no answer depends on its batch."""
    return np.concatenate([run(ids[None], np.ones_like(ids)[None]) for ids in found])


def classifier(folder: Path):
    import transformers

    return transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()


def exported(folder: Path, path: Path) -> Path:
    """An ONNX file of the classifier with dynamic batch and length."""
    import torch

    model = classifier(folder)
    model.config.return_dict = False
    ids = torch.ones(2, 16, dtype=torch.long)
    free = {name: {0: "batch", 1: "length"} for name in NAMES}
    torch.onnx.export(
        model,
        (ids, torch.ones_like(ids), torch.zeros_like(ids)),
        str(path),
        input_names=list(NAMES),
        output_names=["logits"],
        dynamic_axes={**free, "logits": {0: "batch"}},
        opset_version=17,
        dynamo=False,
    )
    return path


def fed(ids: np.ndarray, mask: np.ndarray) -> dict[str, np.ndarray]:
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}


def onnxruntime_int8(folder: Path, out: Path, rows: dict) -> tuple[Run, list[Path], tuple[str, ...]]:
    import onnxruntime
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    plain, prepared, small = exported(folder, out / "plain.onnx"), out / "prepared.onnx", out / "int8.onnx"
    quant_pre_process(str(plain), str(prepared), skip_symbolic_shape=True)
    quantize_dynamic(prepared, small, weight_type=QuantType.QInt8)
    session = onnxruntime.InferenceSession(small, providers=["CPUExecutionProvider"])
    return lambda ids, mask: session.run(None, fed(ids, mask))[0], [small], ("onnxruntime", "onnx")


def nncf_int8(folder: Path, out: Path, rows: dict) -> tuple[Run, list[Path], tuple[str, ...]]:
    import nncf
    import openvino

    model = openvino.Core().read_model(exported(folder, out / "plain.onnx"))
    some = texts(rows, "train")[:CALIBRATION]
    data = nncf.Dataset(some, lambda ids: fed(ids[None], np.ones_like(ids)[None]))
    small = nncf.quantize(model, data, model_type=nncf.ModelType.TRANSFORMER, subset_size=CALIBRATION)
    openvino.save_model(small, out / "int8.xml")
    compiled = openvino.compile_model(out / "int8.xml", "CPU")
    return lambda ids, mask: compiled(fed(ids, mask))[0], [out / "int8.xml", out / "int8.bin"], ("nncf", "openvino")


def torchao(config: Callable[[], object]) -> Callable[..., tuple[Run, list[Path], tuple[str, ...]]]:
    def quantize(folder: Path, out: Path, rows: dict) -> tuple[Run, list[Path], tuple[str, ...]]:
        import torch
        from torchao.quantization import quantize_

        model = classifier(folder)
        quantize_(model, config())
        torch.save(model.state_dict(), out / "model.pt")

        @torch.no_grad()
        def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
            given = {name: torch.from_numpy(value) for name, value in fed(ids, mask).items()}
            return model(**given).logits.float().numpy()

        return run, [out / "model.pt"], ("torchao", "torch")

    return quantize


def eight() -> object:
    from torchao.quantization import Int8DynamicActivationInt8WeightConfig

    return Int8DynamicActivationInt8WeightConfig()


def eight_weights() -> object:
    from torchao.quantization import Int8WeightOnlyConfig

    return Int8WeightOnlyConfig()


def four_weights() -> object:
    from torchao.quantization import Int4WeightOnlyConfig

    return Int4WeightOnlyConfig(group_size=64)


def four_anywhere() -> object:
    """Its portable format: 4-bit weights, one per byte."""
    import torch
    from torchao.quantization import IntxWeightOnlyConfig
    from torchao.quantization.granularity import PerGroup

    return IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(64))


PEERS = {
    "onnxruntime-int8": onnxruntime_int8,
    "nncf-int8": nncf_int8,
    "torchao-int8": torchao(eight),
    "torchao-int8-weights": torchao(eight_weights),
    "torchao-int4-weights": torchao(four_weights),
    "torchao-intx4-weights": torchao(four_anywhere),
}

if __name__ == "__main__":
    main(json.loads(sys.argv[1]))

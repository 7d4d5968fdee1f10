"""Other engines of peers.py, each used as its documentation shows, with all cores: unsorted batches of 32, padded to the longest."""

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

BATCH = 32
THREADS = len(os.sched_getaffinity(0))


class Peer:
    """Predicts label indices with transformers' tokenizer and `logits`, which a subclass defines."""

    def __init__(self, folder: Path, work: Path) -> None:
        import torch
        from transformers import AutoTokenizer

        torch.set_num_threads(THREADS)
        self.folder, self.work = folder, work
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.inputs = [
            name
            for name in ("input_ids", "attention_mask", "token_type_ids")
            if name in self.tokenizer.model_input_names
        ]
        self.start()

    def start(self) -> None:
        raise NotImplementedError

    def logits(self, given: dict[str, np.ndarray]) -> np.ndarray:
        raise NotImplementedError

    def answer(self, texts: list[str], tokens: int) -> list[int]:
        found: list[int] = []
        for first in range(0, len(texts), BATCH):
            given = self.tokenizer(
                texts[first : first + BATCH], padding=True, truncation=True, max_length=tokens, return_tensors="np"
            )
            found += self.logits({name: given[name].astype(np.int64) for name in self.inputs}).argmax(axis=1).tolist()
        return found

    def network(self, **settings: Any) -> Any:
        from transformers import AutoModelForSequenceClassification

        return AutoModelForSequenceClassification.from_pretrained(self.folder, **settings).eval()

    def graph(self) -> Path:
        """The network as an ONNX file, exported once."""
        import torch

        path = self.work / "model.onnx"
        if not path.exists():
            ids = torch.ones(2, 8, dtype=torch.long)
            axes = {name: {0: "batch", 1: "tokens"} for name in self.inputs}
            with torch.no_grad():
                torch.onnx.export(
                    self.network(attn_implementation="eager"),
                    (ids, ids, torch.zeros_like(ids))[: len(self.inputs)],
                    str(path),
                    input_names=self.inputs,
                    output_names=["logits"],
                    dynamic_axes=axes,
                    opset_version=17,
                    dynamo=False,
                )
        return path


class Eager(Peer):
    half = compiled = False

    def start(self) -> None:
        import torch

        self.torch = torch
        self.model = self.network()
        if self.compiled:
            self.model = torch.compile(self.model, dynamic=True)

    def logits(self, given: dict[str, np.ndarray]) -> np.ndarray:
        torch = self.torch
        tensors = {name: torch.from_numpy(array) for name, array in given.items()}
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16) if self.half else contextlib.nullcontext():
            return self.model(**tensors).logits.float().numpy()


class EagerHalf(Eager):
    half = True


class Compiled(Eager):
    compiled = True


class CompiledHalf(Eager):
    half = compiled = True


class TorchAo(Eager):
    def start(self) -> None:
        from torchao.quantization import Int8DynamicActivationInt8WeightConfig, quantize_

        super().start()
        quantize_(self.model, Int8DynamicActivationInt8WeightConfig())
        self.model = self.torch.compile(self.model, dynamic=True)


class Ort(Peer):
    def start(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        self.session = onnxruntime.InferenceSession(str(self.file()), options, providers=["CPUExecutionProvider"])

    def file(self) -> Path:
        return self.graph()

    def logits(self, given: dict[str, np.ndarray]) -> np.ndarray:
        return self.session.run(None, given)[0]


class OrtInt8(Ort):
    def file(self) -> Path:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        path = self.work / "model-int8.onnx"
        if not path.exists():
            quantize_dynamic(str(self.graph()), str(path), weight_type=QuantType.QInt8)
        return path


class OpenVino(Peer):
    hint = "f32"

    def start(self) -> None:
        import openvino

        self.core = openvino.Core()
        self.compiled = self.core.compile_model(
            self.model(),
            "CPU",
            {"INFERENCE_PRECISION_HINT": self.hint, "INFERENCE_NUM_THREADS": THREADS, "PERFORMANCE_HINT": "LATENCY"},
        )

    def model(self) -> Any:
        return self.core.read_model(self.graph())

    def logits(self, given: dict[str, np.ndarray]) -> np.ndarray:
        return self.compiled(given)[0]


class OpenVinoHalf(OpenVino):
    hint = "bf16"


class OpenVinoInt8(OpenVino):
    def model(self) -> Any:
        import nncf
        import openvino

        path = self.work / "openvino-int8.xml"
        if not path.exists():
            texts = json.loads((self.work / "calibration.json").read_text())
            rows = [
                dict(self.tokenizer([text], truncation=True, max_length=128, return_tensors="np")) for text in texts
            ]
            quantized = nncf.quantize(
                self.core.read_model(self.graph()),
                nncf.Dataset(rows),
                model_type=nncf.ModelType.TRANSFORMER,
                subset_size=len(rows),
            )
            openvino.save_model(quantized, path)
        return self.core.read_model(path)


class CTranslate2(Peer):
    def start(self) -> None:
        import ctranslate2
        from ctranslate2.converters import TransformersConverter

        path = self.work / "ctranslate2"
        if not path.exists():
            TransformersConverter(str(self.folder)).convert(str(path), quantization="int8")
        self.storage = ctranslate2.StorageView
        self.encoder = ctranslate2.Encoder(str(path), compute_type="int8", intra_threads=THREADS)
        network = self.network()
        self.weights = [
            part.detach().numpy()
            for part in (
                network.bert.pooler.dense.weight,
                network.bert.pooler.dense.bias,
                network.classifier.weight,
                network.classifier.bias,
            )
        ]

    def answer(self, texts: list[str], tokens: int) -> list[int]:
        found: list[int] = []
        inner, inner_bias, outer, outer_bias = self.weights
        for first in range(0, len(texts), BATCH):
            ids = self.tokenizer(texts[first : first + BATCH], truncation=True, max_length=tokens)["input_ids"]
            hidden = np.array(self.encoder.forward_batch(ids).last_hidden_state)[:, 0]
            found += (np.tanh(hidden @ inner.T + inner_bias) @ outer.T + outer_bias).argmax(axis=1).tolist()
        return found

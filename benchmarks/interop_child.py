"""Runs one exported folder in one Python package, in the environment of that package: `python interop_child.py CONSUMER KIND FOLDER TEXTS`.

Prints a line of JSON: the versions of the packages, and the outputs for each text alone and for all texts in one padded batch, or the
error of the package. Knows nothing of niwaki.
"""

import importlib.metadata
import json
import sys
from pathlib import Path

import numpy as np

CLASSES = {"label": "SequenceClassification", "tags": "TokenClassification", "span": "QuestionAnswering"}
PACKAGES = {
    "onnxruntime": ("onnxruntime", "tokenizers"),
    "optimum": ("optimum", "optimum-onnx", "onnxruntime", "transformers"),
    "transformers": ("transformers", "torch"),
    "sentence-transformers torch": ("sentence-transformers", "transformers", "torch"),
    "sentence-transformers": ("sentence-transformers", "optimum-onnx", "onnxruntime", "transformers"),
}


def onnxruntime(kind, folder):
    """The graph alone, with nothing but onnxruntime and tokenizers."""
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    session = InferenceSession(folder / "onnx" / "model.onnx", providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    pad = json.loads((folder / "config.json").read_text())["pad_token_id"]
    tokenizer.enable_padding(pad_id=pad)

    def run(texts):
        rows = tokenizer.encode_batch(texts)
        arrays = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        inputs = {name: np.array([getattr(row, field) for row in rows], np.int64) for name, field in arrays.items()}
        given = {entry.name: inputs[entry.name] for entry in session.get_inputs()}
        names = (
            ["start_logits", "end_logits"]
            if kind == "span"
            else ["sentence_embedding" if kind == "embedding" else "logits"]
        )
        found = session.run(names, given)
        return np.stack(found, -1) if kind == "span" else found[0]

    return run


def optimum(kind, folder):
    import optimum.onnxruntime
    from transformers import AutoTokenizer

    loader = getattr(optimum.onnxruntime, f"ORTModelFor{CLASSES.get(kind, 'FeatureExtraction')}")
    return logits_of(kind, loader.from_pretrained(folder), AutoTokenizer.from_pretrained(folder))


def transformers(kind, folder):
    import transformers

    loader = getattr(transformers, f"AutoModelFor{CLASSES[kind]}" if kind in CLASSES else "AutoModel")
    return logits_of(kind, loader.from_pretrained(folder).eval(), transformers.AutoTokenizer.from_pretrained(folder))


def sentence_transformers(kind, folder, backend="onnx"):
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), backend=backend, device="cpu")
    return lambda texts: model.encode(texts, batch_size=len(texts), normalize_embeddings=True)


def sentence_transformers_torch(kind, folder):
    return sentence_transformers(kind, folder, "torch")


def logits_of(kind, model, tokenizer):
    import torch

    def run(texts):
        inputs = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            found = model(**inputs)
        if kind == "span":
            return torch.stack([found.start_logits, found.end_logits], -1).numpy()
        if kind == "embedding":
            return mean_pooled(found.last_hidden_state, inputs["attention_mask"]).numpy()
        return found.logits.numpy()

    return run


def mean_pooled(hidden, mask):
    """What all-MiniLM-L6-v2 documents for plain transformers: the mean over tokens, of length 1."""
    import torch

    weights = mask[..., None].to(hidden.dtype)
    return torch.nn.functional.normalize((hidden * weights).sum(1) / weights.sum(1), dim=-1)


def main(consumer, kind, folder, texts):
    consumer = "transformers" if consumer.startswith("transformers ") else consumer
    answer = {"versions": {name: importlib.metadata.version(name) for name in PACKAGES[consumer]}}
    try:
        run = globals()[consumer.replace("-", "_").replace(" ", "_")](kind, folder)
    except (OSError, ValueError) as error:
        return {**answer, "error": str(error).strip().splitlines()[0]}
    return {**answer, "single": [run([text])[0].tolist() for text in texts], "batch": run(texts).tolist()}


if __name__ == "__main__":
    found = main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), json.loads(Path(sys.argv[4]).read_text()))
    sys.stdout.write(json.dumps(found) + "\n")

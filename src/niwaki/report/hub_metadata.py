"""The metadata block of a model card, with the keys that the Hugging Face Hub reads.

Keys whose values are not known are left out. Models and datasets are named only if they are on the Hub; folders are not published.
"""

import json
import re
from collections.abc import Iterator

from niwaki.core.json_types import Json

PIPELINES = {  # answer type → pipeline tag
    "tags": "token-classification",
    "senses": "token-classification",
    "roles": "token-classification",
    "span": "question-answering",
    "choice": "multiple-choice",
    "text": "text2text-generation",
    "embedding": "sentence-similarity",
    "image_label": "image-classification",
    "image_embedding": "image-feature-extraction",
    "image_caption": "image-to-text",
    "verified": "text2text-generation",
}
MODELS = {"minilm": "sentence-transformers/all-MiniLM-L6-v2"}  # embedded models
DATASETS = {  # task → dataset on the Hub; all of them are in English
    **dict.fromkeys(("cola", "mnli", "mrpc", "qnli", "qqp", "rte", "sst2", "stsb", "wnli"), "nyu-mll/glue"),
    "ag_news": "fancyzhx/ag_news",
    "imdb": "stanfordnlp/imdb",
    "rotten_tomatoes": "cornell-movie-review-data/rotten_tomatoes",
    "squad": "rajpurkar/squad",
    "squad_v2": "rajpurkar/squad_v2",
    "swag": "allenai/swag",
    "wnut17": "leondz/wnut_17",
}
QUANTIZED = {"int8", "static", "rtn", "gptq", "qat", "ternary", "binary"}  # methods
HUB_ID = re.compile(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}")
Facts = Json


def metadata(report: Facts, stage: Facts, methods: list[Facts]) -> Json:
    """The block of a stage's card as plain data. `methods` are those of the stage and of all it was made from."""
    task = str(report["task"]["name"] or "")
    block: Json = {
        "library_name": "niwaki",
        "pipeline_tag": pipeline_tag(report),
        "language": "en" if task in DATASETS else None,
        "base_model": base_model(report["model"]),
        "datasets": [DATASETS[task]] if task in DATASETS else None,
        "tags": tags(methods),
        "model-index": model_index(report, stage),
        "co2_eq_emissions": emissions(report, stage["energy"]["making"]),
    }
    return {key: value for key, value in block.items() if value is not None}


def pipeline_tag(report: Facts) -> str:
    return PIPELINES.get(str(report["task"]["answer"]), "text-classification")


def base_model(name: str | None) -> str | None:
    found = MODELS.get(str(name), str(name))
    return found if HUB_ID.fullmatch(found) else None


def tags(methods: list[Facts]) -> list[str]:
    names = {str(method.get("use")) for method in methods}
    return ["niwaki", "onnx", *(["quantized"] if names & QUANTIZED else []), "energy-label"]


def model_index(report: Facts, stage: Facts) -> list[Facts] | None:
    if stage["score"] is None:
        return None
    task = str(report["task"]["name"] or "unknown")
    dataset = {"name": task, "type": DATASETS.get(task, task), "split": "test"}
    metrics = [{"type": name, "value": score["value"]} for name, score in stage["scores"].items()]
    result = {"task": {"type": pipeline_tag(report)}, "dataset": dataset, "metrics": metrics}
    return [{"name": f"{report['name']}-{stage['name']}", "results": [result]}]


def emissions(report: Facts, making: Facts) -> Json | None:
    """Grams of CO2e of the stage's training; None without a place."""
    if making["co2e_grams"] is None:
        return None
    values = {
        "emissions": making["co2e_grams"],
        "source": f"niwaki ({making['tier']})",
        "training_type": "fine-tuning",
        "geographical_location": report["reproduce"].get("place"),
        "hardware_used": (report["reproduce"].get("hardware") or {}).get("cpu"),
    }
    return {key: value for key, value in values.items() if value is not None}


def yaml_lines(value: object) -> Iterator[str]:
    """Plain data as YAML. Texts are quoted as in JSON, so none of them can end the block or become a key."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            nested = isinstance(item, dict | list) and item
            yield f"{key}:" if nested else f"{key}: {json.dumps(item)}"
            yield from (f"  {line}" for line in yaml_lines(item)) if nested else ()
    elif isinstance(value, list) and value:
        for item in value:
            first, *others = yaml_lines(item)
            yield from (f"- {first}", *(f"  {line}" for line in others))
    else:
        yield json.dumps(value)

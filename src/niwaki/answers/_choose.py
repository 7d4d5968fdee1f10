"""From a model's config to its kind of answer: as niwaki wrote it, or as transformers' own names say."""

from typing import Any

from niwaki.answers import ANSWERS
from niwaki.answers._kind import Kind
from niwaki.core.settings import check

BY_HEAD = {"TokenClassification": "tags", "QuestionAnswering": "span"}
BY_PROBLEM = {"regression": "number", "multi_label_classification": "labels"}


def kind_of(config: dict[str, Any], where: str) -> Kind:
    said = config.get("niwaki_answer")
    if not isinstance(said, dict):
        said = {"kind": guessed(config)}
    kind: type[Kind] = ANSWERS.load(str(said.get("kind")), Kind)
    return check(kind, {key: value for key, value in said.items() if key != "kind"}, f"{where}: niwaki_answer")


def guessed(config: dict[str, Any]) -> str:
    for name in config.get("architectures") or []:
        for head, kind in BY_HEAD.items():
            if str(name).endswith(f"For{head}"):
                return kind
    if len(config.get("id2label") or {}) == 1:
        return "number"
    return BY_PROBLEM.get(str(config.get("problem_type")), "label")

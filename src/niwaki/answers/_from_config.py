"""From a model's config to its kind of answer: as niwaki wrote it, or as transformers' own names say."""

from niwaki.answers import ANSWERS, span
from niwaki.answers._answer_type import AnswerType
from niwaki.answers._capabilities import NeedsFiles
from niwaki.core.errors import InputError
from niwaki.core.json_types import Json
from niwaki.core.settings import check

BY_HEAD = {
    "TokenClassification": "tags",
    "QuestionAnswering": "span",
    "QuestionAnsweringSimple": "span",  # XLNet's and XLM's name for it
    "ImageClassification": "image_label",
    "ImageClassificationWithTeacher": "image_label",
}
HEADS = (*BY_HEAD, "SequenceClassification", "ConditionalGeneration")
BARE = (
    "Model",
    "ForMaskedLM",
    "ForPreTraining",
    "ForFeatureExtraction",
)  # endings of architectures without a task head
SEQ2SEQ = "MTModel"
LANGUAGE_MODEL = "likelihood"  # a masked-LM architecture that is saved with this answer type keeps its head
EMBEDDINGS = "embedding", "image_embedding"
BY_PROBLEM = {"regression": "number", "multi_label_classification": "labels"}


def answer_type_of(config: Json, where: str) -> AnswerType:
    saved = config.get("niwaki_answer")
    if not isinstance(saved, dict):
        saved = {"kind": guess_answer_type(config)}
    kind: type[AnswerType] = ANSWERS.load(str(saved.get("kind")), AnswerType)
    return check(kind, {key: value for key, value in saved.items() if key != "kind"}, f"{where}: niwaki_answer")


def answer_files_of(config: Json) -> tuple[str, ...]:
    """Files that the answer type needs next to the network; none for an unknown type."""
    saved = config.get("niwaki_answer")
    if not isinstance(saved, dict) or str(saved.get("kind")) not in ANSWERS.names():
        return ()
    kind = ANSWERS.load(str(saved["kind"]), AnswerType)
    return kind.required_files(saved) if issubclass(kind, NeedsFiles) else ()


def labels_of(config: Json, where: str) -> list[str]:
    """The names of the outputs, in their order. A head of two whose names were never set has none in its file: transformers
    leaves its default out, which is LABEL_0 and LABEL_1 and means nothing where the outputs are begin and end."""
    saved = config.get("niwaki_answer")
    if (saved.get("kind") if isinstance(saved, dict) else guess_answer_type(config)) in (*EMBEDDINGS, LANGUAGE_MODEL):
        return []
    names = config.get("id2label")
    if isinstance(names, dict) and names and all(number.isdigit() for number in names):
        return [name for _, name in sorted((int(number), str(name)) for number, name in names.items())]
    if names is not None or not any(
        str(name).endswith(f"For{head}") for name in config.get("architectures") or [] for head in HEADS
    ):
        raise InputError(f"{where}: names no labels (id2label); fine-tune the model on a task first")
    return list(span.LABELS) if guess_answer_type(config) == "span" else ["LABEL_0", "LABEL_1"]


def guess_answer_type(config: Json) -> str:
    for name in config.get("architectures") or []:
        for head, kind in BY_HEAD.items():
            if str(name).endswith(f"For{head}"):
                return kind
    if is_bare_encoder(config):
        return EMBEDDINGS["patch_size" in config]  # only networks for images have patches
    if len(config.get("id2label") or {}) == 1:
        return "number"
    return BY_PROBLEM.get(str(config.get("problem_type")), "label")


def is_bare_encoder(config: Json) -> bool:
    """Whether the architecture has no task head, as in pretrained and sentence-transformers checkpoints."""
    saved = config.get("niwaki_answer")
    if isinstance(saved, dict) and saved.get("kind") == LANGUAGE_MODEL:
        return False
    listed = config.get("architectures")
    names = [str(name) for name in listed] if isinstance(listed, list) else []
    tasks = (*(f"For{head}" for head in HEADS), SEQ2SEQ, "LMHeadModel")
    return any(name.endswith(BARE) for name in names) and not any(name.endswith(tasks) for name in names)

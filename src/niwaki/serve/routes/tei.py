"""POST /predict: classification, in the format of Hugging Face's text-embeddings-inference.

`inputs` is a text, a pair of texts `[a, b]`, or a batch of both `[[a], [b, c]]`. Labels come with their scores, highest first.
Reference: https://huggingface.github.io/text-embeddings-inference
"""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from niwaki.core.json_types import Json
from niwaki.serve.app import json_response, serving_of
from niwaki.serve.jobs import ServeError
from niwaki.serve.serving import answer

router = APIRouter()
KINDS = ("label", "labels")


class ClassifyBody(BaseModel):
    """A request for scores of all labels."""

    inputs: str | list[str] | list[list[str]] = Field(
        min_length=1, description="a text, a pair of texts, or a batch: a list of lists"
    )
    raw_scores: bool = Field(False, description="scores before the softmax: not available")
    truncate: bool = Field(True, description="long texts are always truncated")
    model: str = Field("", description="an extension: name of the model; by default the first classifier")


@router.post("/predict")
async def classify(request: Request, body: ClassifyBody) -> Response:
    """Scores of all labels for each text, highest first."""
    serving = serving_of(request)
    if body.raw_scores:
        raise ServeError(422, "raw_scores", "raw_scores: only probabilities are available")
    model = serving.choose(body.model, KINDS, "chooses labels")
    is_batch, inputs = sequences_of(body.inputs)
    job = await answer(serving, request.receive, model, inputs)
    found = [scores(one) for one in job.answers if isinstance(one, dict)]
    return json_response(found if is_batch else found[0])


def sequences_of(given: str | list[str] | list[list[str]]) -> tuple[bool, list[str | list[str]]]:
    """Whether it is a batch, and its texts and pairs. `[a]` is the text a."""
    if isinstance(given, str):
        return False, [given]
    rows = [one for one in given if isinstance(one, list)]
    if not rows:
        texts = [one for one in given if isinstance(one, str)]
        return False, [texts[0] if len(texts) == 1 else texts]
    return True, [row[0] if len(row) == 1 else row for row in rows]


def scores(answer: Json) -> list[Json]:
    ranked = sorted(answer["probabilities"].items(), key=lambda pair: -pair[1])
    return [{"score": score, "label": label} for label, score in ranked]

"""POST /v1/predict: answers of any model, with tokens, time and energy; GET /v1/models."""

from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from niwaki.core.json_types import Json
from niwaki.serve.app import json_response, serving_of
from niwaki.serve.jobs import Job
from niwaki.serve.serving import answer

router = APIRouter()


class PredictBody(BaseModel):
    """A request for answers."""

    model_config = ConfigDict(extra="forbid")

    inputs: str | list[str | list[JsonValue]] = Field(description="a text, or texts; a pair of texts is a list of two")
    model: str = Field("", description="name of the model; by default the first one")
    timeout_ms: int | None = Field(None, ge=1, description="time after which the answers are no longer needed")
    priority: int = Field(0, ge=-9, le=9, description="requests with lower numbers are computed first")


@router.post("/v1/predict")
async def predict(request: Request, body: PredictBody) -> Response:
    """Answer texts: labels with probabilities, numbers, tags, embeddings, as the model gives them."""
    serving = serving_of(request)
    model = serving.choose(body.model)
    inputs = [body.inputs] if isinstance(body.inputs, str) else body.inputs
    job = await answer(serving, request.receive, model, inputs, body.timeout_ms, body.priority)
    return json_response({"model": model, "answers": job.answers, "usage": usage(job)})


@router.get("/v1/models")
async def models(request: Request) -> Response:
    """The served models, as OpenAI lists them, with labels and engine."""
    about = serving_of(request).dispatcher.about
    shown = ("kind", "labels", "engine", "max_tokens", "steps")
    data = [
        {"id": name, "object": "model", "owned_by": "niwaki", **{key: one[key] for key in shown if key in one}}
        for name, one in about.items()
    ]
    return json_response({"object": "list", "data": data})


def usage(job: Job) -> Json:
    """What a request cost in the worker, and how long it waited."""
    return {
        "tokens": job.used_tokens,
        "joules": job.joules,
        "compute_ms": 1000 * job.seconds,
        "wait_ms": 1000 * max(0.0, job.started_at - job.queued_at),
    }

"""POST /v1/embeddings: sentence embeddings, in OpenAI's format.

Reference: https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
from typing import Literal

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from niwaki.core.json_types import Json
from niwaki.serve.app import json_response, serving_of
from niwaki.serve.jobs import ServeError
from niwaki.serve.serving import answer

router = APIRouter()
KINDS = ("embedding",)


class EmbeddingsBody(BaseModel):
    """A request for embeddings. Unknown fields are ignored, because clients send some that mean nothing here."""

    input: str | list[str] = Field(description="a text or texts; tokens are not accepted, they are the model's own")
    model: str = Field("", description="name of the model; by default the first that gives embeddings")
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: int | None = Field(None, ge=1, description="must be the model's own, if given")
    user: str | None = None


@router.post("/v1/embeddings")
async def embeddings(request: Request, body: EmbeddingsBody) -> Response:
    """Sentence embeddings of length 1."""
    serving = serving_of(request)
    model = serving.choose(body.model, KINDS, "gives embeddings")
    inputs = [body.input] if isinstance(body.input, str) else body.input
    job = await answer(serving, request.receive, model, inputs)
    vectors = [one["embedding"] for one in job.answers if isinstance(one, dict)]
    if body.dimensions not in (None, len(vectors[0])):
        raise ServeError(
            400, "dimensions", f"dimensions: the model's embeddings have {len(vectors[0])}, and are not cut"
        )
    data = [_item(number, vector, body.encoding_format) for number, vector in enumerate(vectors)]
    used = {"prompt_tokens": job.used_tokens, "total_tokens": job.used_tokens}
    return json_response({"object": "list", "data": data, "model": model, "usage": used})


def _item(number: int, vector: list[float], encoding: str) -> Json:
    shown = base64.b64encode(np.array(vector, dtype="<f4").tobytes()).decode() if encoding == "base64" else vector
    return {"object": "embedding", "index": number, "embedding": shown}

"""GET /health, /ready and /metrics; POST /reload."""

import asyncio

from fastapi import APIRouter, Request
from fastapi.responses import Response

from niwaki.core.errors import NiwakiError
from niwaki.core.redaction import one_line
from niwaki.serve.app import json_response, serving_of
from niwaki.serve.health import health, ready
from niwaki.serve.jobs import ServeError

router = APIRouter()


@router.get("/health")
async def is_healthy(request: Request) -> Response:
    """200 if the worker's loop runs, 503 if it is stuck, lost or does not start."""
    status, body = health(serving_of(request))
    return json_response(body, status)


@router.get("/ready")
async def is_ready(request: Request) -> Response:
    """200 if requests are taken, 503 while the queue is full, the worker restarts or the server drains."""
    status, body = ready(serving_of(request))
    return json_response(body, status)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """The page for Prometheus."""
    return Response(serving_of(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")


@router.post("/reload")
async def reload(request: Request) -> Response:
    """Load all models again from their folders. Needs API keys; without them, send SIGHUP."""
    serving = serving_of(request)
    if not serving.settings.api_keys:
        raise ServeError(
            403, "no_api_keys", "this server has no API keys, so nobody may reload it over HTTP; send SIGHUP"
        )
    try:
        await asyncio.to_thread(serving.dispatcher.reload)
    except NiwakiError as error:
        serving.metrics.reload_failures.inc()
        raise ServeError(409, "reload_failed", f"{one_line(str(error))} (the models before are served on)") from None
    return json_response({"status": "reloaded", "models": list(serving.dispatcher.paces)})

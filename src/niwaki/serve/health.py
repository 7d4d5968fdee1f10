"""Whether the server lives and whether it takes requests. Read from the worker's heartbeat, so a stuck worker shows within a second."""

from niwaki.core.json_types import Json
from niwaki.serve.serving import Serving


def health(serving: Serving) -> tuple[int, Json]:
    """Status and body of /health: 503 if the worker is stuck, dead, or does not start."""
    dispatcher = serving.dispatcher
    silent, allowed = dispatcher.silence()
    worker, state = dispatcher.worker, dispatcher.state
    if state == "ready" and worker is not None and not worker.is_alive():
        state = "dead"
    elif state == "ready" and silent > allowed:
        state = "stuck"
    body: Json = {"status": "ok" if state == "ready" else state, "silent_seconds": round(silent, 3)}
    body |= {"queue_requests": len(dispatcher.queue), "restarts": dispatcher.counts.restarts}
    return 200 if state == "ready" else 503, body


def ready(serving: Serving) -> tuple[int, Json]:
    """Status and body of /ready: 503 also while the server drains, and while its queue is full."""
    status, body = health(serving)
    if serving.is_draining:
        return 503, {**body, "status": "draining"}
    if serving.dispatcher.is_full():
        return 503, {**body, "status": "full"}
    return status, body

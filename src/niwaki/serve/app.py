"""The application: the routes of the folder `routes`, errors as one line of JSON, and the gate before them."""

import json

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError, StarletteHTTPException
from fastapi.responses import Response

from niwaki import __version__
from niwaki.core.catalog import Catalog
from niwaki.core.errors import first_line
from niwaki.core.log import info
from niwaki.core.redaction import one_line
from niwaki.serve.gate import App, Gate, error_response
from niwaki.serve.jobs import ServeError
from niwaki.serve.serving import Serving

ROUTES = Catalog("niwaki.serve.routes", what="route", plugins=False)


def make_app(serving: Serving) -> App:
    """The ASGI application of a server."""
    app = FastAPI(
        title="niwaki serve", version=__version__, docs_url=None, redoc_url=None
    )  # their pages need the internet
    app.state.serving = serving
    for name in ROUTES.names():
        app.include_router(ROUTES.module(name).router)
    app.add_exception_handler(ServeError, on_serve_error)
    app.add_exception_handler(RequestValidationError, on_invalid_body)
    for status in (400, 404, 405):
        app.add_exception_handler(status, on_http_error)
    app.add_exception_handler(Exception, on_fault)
    return Gate(app, serving)  # type: ignore[arg-type,unused-ignore]


def serving_of(request: Request) -> Serving:
    found = request.app.state.serving
    assert isinstance(found, Serving)
    return found


def json_response(value: object, status: int = 200) -> Response:
    """JSON without FastAPI's own encoder, which is slow for embeddings."""
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")
    return Response(body, status, media_type="application/json")


async def on_serve_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ServeError)
    status, headers, body = error_response(error)
    return Response(body, status, headers={name.decode(): value.decode() for name, value in headers})


async def on_http_error(request: Request, error: Exception) -> Response:
    """Errors of FastAPI itself: no such route, or a body that its JSON reader gives up."""
    assert isinstance(error, StarletteHTTPException)
    status, path = error.status_code, request.url.path[:80]
    if status == 400:
        return await on_serve_error(request, not_json())
    code = "not_found" if status == 404 else "method_not_allowed"
    return await on_serve_error(request, ServeError(status, code, f"{request.method} {path}: there is no such route"))


async def on_fault(request: Request, error: Exception) -> Response:
    """A fault of ours: named in the log, not to the client."""
    info(f"niwaki serve: {request.method} {request.url.path[:80]}: {type(error).__name__}: {first_line(error)}")
    return await on_serve_error(request, ServeError(500, "internal", "the server failed on this request"))


def not_json() -> ServeError:
    return ServeError(400, "invalid_json", "the body is not valid JSON")


async def on_invalid_body(request: Request, error: Exception) -> Response:
    """All faults of a body in one line; 400 if it is no JSON."""
    assert isinstance(error, RequestValidationError)
    faults = error.errors()
    if any(fault["type"] == "json_invalid" for fault in faults):
        return await on_serve_error(request, not_json())
    lines = dict.fromkeys(
        f"{'.'.join(str(part) for part in fault['loc'][1:]) or 'body'}: {fault['msg']}" for fault in faults[:5]
    )
    return await on_serve_error(request, ServeError(422, "invalid_request", one_line("; ".join(lines))[:1000]))

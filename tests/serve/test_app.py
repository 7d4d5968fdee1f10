import json

import pytest

pytest.importorskip("fastapi")

from niwaki.serve.app import ROUTES, json_response


def test_routes_are_the_files_of_the_folder():
    assert set(ROUTES.names()) == {"predict", "openai", "tei", "operation", "playground", "words"}
    assert all(ROUTES.module(name).router.routes for name in ROUTES.names())


def test_several_faults_of_a_body_are_one_line(served):
    found = served().request("POST", "/v1/predict", {"inputs": 3, "priority": "high\nest", "timeout_ms": -1})
    assert found.status == 422 and found.error == "invalid_request"
    message = found.json["error"]["message"]
    assert "\n" not in message and "priority" in message and "timeout_ms" in message and len(message) <= 1000


def test_json_keeps_characters_that_no_encoding_has():
    assert json.loads(json_response({"label": "é\ud800"}).body) == {"label": "é\ud800"}


def test_faults_of_the_server_are_not_shown_to_clients(served):
    server = served()
    server.serving.choose = None  # calling it fails
    with pytest.raises(TypeError):  # uvicorn logs it
        server.request("POST", "/v1/predict", {"inputs": "a"})
    assert b'status="500"' in server.serving.metrics.text()

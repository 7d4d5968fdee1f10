import json

import pytest

pytest.importorskip("fastapi")


def test_answers_come_with_their_cost(served):
    found = served().request("POST", "/v1/predict", {"inputs": ["good", "bad"], "model": "letters"})
    assert found.status == 200 and found.json["model"] == "letters"
    assert [answer["label"] for answer in found.json["answers"]] == ["good", "bad"]
    assert found.json["usage"]["tokens"] == 10 and found.json["usage"]["joules"] == pytest.approx(0.5)
    assert found.json["usage"]["compute_ms"] == pytest.approx(1.0) and found.json["usage"]["wait_ms"] >= 0


def test_a_single_text_and_pairs_are_inputs(served):
    server = served()
    assert len(server.request("POST", "/v1/predict", {"inputs": "good"}).json["answers"]) == 1
    assert len(server.request("POST", "/v1/predict", {"inputs": [["good", "b"], "c"]}).json["answers"]) == 2


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        (b"", 422, "body"),
        (b"{", 400, "JSON"),
        (b"\xff\xfe", 400, "JSON"),
        (b"[" * 100_000, 400, "JSON"),
        (b"nul", 400, "JSON"),
        ({}, 422, "inputs"),
        ({"inputs": 3}, 422, "inputs"),
        ({"inputs": []}, 422, "1 to"),
        ({"inputs": [3]}, 422, "inputs"),
        ({"inputs": {"a": 1}}, 422, "inputs"),
        ({"inputs": "a", "modle": "letters"}, 422, "modle"),
        ({"inputs": "a", "timeout_ms": 0}, 422, "timeout_ms"),
        ({"inputs": "a", "priority": 100}, 422, "priority"),
        ({"inputs": "a", "model": "never"}, 404, "letters, vectors"),
        ({"inputs": ["a", ""]}, 422, "inputs.1"),
        ({"inputs": "x" * 200_000}, 422, "characters"),
    ],
)
def test_invalid_requests_are_named_in_one_line(served, body, status, word):
    found = served().request("POST", "/v1/predict", body)
    assert found.status == status and found.error and word in json.dumps(found.json, ensure_ascii=False)


def test_models_are_listed(served):
    found = served().request("GET", "/v1/models").json["data"]
    assert [(one["id"], one["kind"], one["object"]) for one in found] == [
        ("letters", "label", "model"),
        ("vectors", "embedding", "model"),
    ]


def test_methods_and_paths_that_do_not_exist(served):
    server = served()
    assert server.request("GET", "/v1/predict").error == "method_not_allowed"
    assert server.request("POST", "/v2/predict", {}).error == "not_found"


def test_interface_is_described(served):
    found = served().request("GET", "/openapi.json").json
    assert {"/v1/predict", "/v1/embeddings", "/predict", "/health", "/metrics", "/reload"} <= set(found["paths"])
    assert "PredictBody" in found["components"]["schemas"]

import pytest

pytest.importorskip("fastapi")

from niwaki.core.errors import NiwakiError
from serve.fakes import FakeWorker

KEY = "0123456789abcdef"


def test_reloading_needs_a_key(served):
    found = served().request("POST", "/reload")
    assert found.status == 403 and "SIGHUP" in found.json["error"]["message"]
    assert served(api_keys=[KEY]).request("POST", "/reload").status == 401


def test_reloading_uses_a_new_worker(served):
    server = served(FakeWorker(), fresh := FakeWorker(), api_keys=[KEY])
    found = server.request("POST", "/reload", x_api_key=KEY)
    assert found.status == 200 and found.json["models"] == ["letters", "vectors"]
    assert server.dispatcher.worker is fresh


def test_a_failed_reload_is_reported_and_changes_nothing(served):
    server = served(worker := FakeWorker(), api_keys=[KEY])

    def fail():
        raise NiwakiError("model.onnx: is damaged")

    server.dispatcher._start_worker = fail
    found = server.request("POST", "/reload", x_api_key=KEY)
    assert found.status == 409 and "is damaged" in found.json["error"]["message"]
    assert server.dispatcher.worker is worker
    assert b"niwaki_reload_failures_total 1.0" in server.serving.metrics.text()

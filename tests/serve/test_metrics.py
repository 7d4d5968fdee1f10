import pytest

pytest.importorskip("prometheus_client")

from prometheus_client.parser import text_string_to_metric_families


def samples(served) -> dict[str, float]:
    text = served.request("GET", "/metrics").body.decode()
    return {
        f"{one.name}{sorted(one.labels.items()) or ''}": one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_requests_and_their_energy_are_counted(served):
    server = served()
    for _ in range(3):
        assert server.request("POST", "/v1/predict", {"inputs": "good", "model": "letters"}).status == 200
    server.request("POST", "/v1/predict", b"{")
    found = samples(server)
    assert found["niwaki_requests_total[('route', '/v1/predict'), ('status', '200')]"] == 3
    assert found["niwaki_requests_total[('route', '/v1/predict'), ('status', '400')]"] == 1
    assert found["niwaki_request_joules_sum[('model', 'letters')]"] == pytest.approx(1.5)
    assert found["niwaki_request_joules_count[('model', 'letters')]"] == 3
    assert found["niwaki_texts_total[('model', 'letters')]"] == 3 == found["niwaki_batches_total"]
    assert found["niwaki_tokens_total[('model', 'letters')]"] == 15
    assert found["niwaki_server_joules_total"] > 0 and found["niwaki_worker_up"] == 1
    assert found["niwaki_queue_requests"] == 0 and found["niwaki_worker_restarts_total"] == 0


def test_missing_energy_is_left_out(served):
    from serve.fakes import FakeWorker

    server = served(FakeWorker(joules=None))
    found = server.request("POST", "/v1/predict", {"inputs": "good"})
    assert found.json["usage"]["joules"] is None
    assert "niwaki_request_joules_count[('model', 'letters')]" not in samples(server)


def test_unknown_paths_do_not_make_new_series(served):
    """Anybody may request any path; each must not be remembered."""
    server = served()
    for number in range(5):
        assert server.request("GET", f"/nowhere-{number}").status == 404
    assert sum(name.startswith("niwaki_requests_total") for name in samples(server)) == 1

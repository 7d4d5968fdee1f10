import pytest

from niwaki.serve.batching import Slice
from niwaki.serve.jobs import BatchResult, Job, ServeError, distribute, text_length


def job(count: int) -> tuple[Job, list[Job]]:
    done: list[Job] = []
    return Job("a", [1] * count, 1.0, inputs=["x"] * count, on_done=done.append), done


def test_energy_and_time_are_shared_by_tokens():
    (first, _), (second, _) = job(2), job(1)
    result = BatchResult([{"n": 1}, {"n": 2}, {"n": 3}], [10, 20, 70], 2.0, 4.0)
    distribute([Slice(first, 0, 2), Slice(second, 0, 1)], result)
    assert (first.joules, second.joules) == pytest.approx((1.2, 2.8))
    assert (first.seconds, first.used_tokens, first.answers) == (pytest.approx(0.6), 30, [{"n": 1}, {"n": 2}])


def test_job_is_done_once_after_its_last_slice():
    one, done = job(2)
    distribute([Slice(one, 0, 1)], BatchResult([{}], [1], 1.0, 1.0))
    assert not done and not one.is_done
    distribute([Slice(one, 1, 2)], BatchResult([{}], [1], 1.0, 1.0))
    one.finish(ServeError(503, "late", "too late"))
    assert done == [one] and one.error is None and one.joules == pytest.approx(2.0)


def test_missing_energy_is_not_zero():
    one, _ = job(2)
    distribute([Slice(one, 0, 1)], BatchResult([{}], [1], 1.0, None))
    distribute([Slice(one, 1, 2)], BatchResult([{}], [1], 1.0, 3.0))
    assert one.joules is None


def test_characters_of_nested_inputs_are_counted():
    assert text_length("abc") == 3 and text_length(["ab", ["c", "de"]]) == 5 and text_length(7) == 1


def test_errors_tell_clients_from_servers():
    assert ServeError(422, "x", "y").to_json()["error"]["type"] == "invalid_request"
    assert ServeError(503, "x", "y").to_json()["error"]["type"] == "server_error"

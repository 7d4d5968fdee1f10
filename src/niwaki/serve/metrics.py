"""Prometheus metrics: requests, waiting, batches, and the energy of each request."""

from collections.abc import Iterator, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from niwaki.meter import Window, meter
from niwaki.serve.batching import Slice
from niwaki.serve.dispatcher import Dispatcher
from niwaki.serve.jobs import Job

SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)
JOULES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
TOKENS = (16, 64, 256, 1024, 4096, 16384)


class Metrics:
    """The metrics of one server. They have a registry of their own, so that several servers fit into one process."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.registry = CollectorRegistry()
        counter, histogram = partial(Counter, registry=self.registry), partial(Histogram, registry=self.registry)
        by_model, seconds = ["model"], partial(histogram, buckets=SECONDS)
        self.requests = counter("niwaki_requests", "Requests by route and status.", ["route", "status"])
        self.seconds = seconds("niwaki_request_seconds", "Time from the headers of a request to its answer.", ["route"])
        self.waited = seconds("niwaki_wait_seconds", "Time in the queue.", by_model)
        self.joules = histogram("niwaki_request_joules", "Energy of a request in the worker.", by_model, buckets=JOULES)
        self.tokens = counter("niwaki_tokens", "Tokens computed.", by_model)
        self.texts = counter("niwaki_texts", "Texts computed.", by_model)
        self.batch_tokens = histogram("niwaki_batch_tokens", "Expected tokens of a batch.", by_model, buckets=TOKENS)
        self.batch_seconds = seconds("niwaki_batch_seconds", "Time of a batch in the worker.", by_model)
        about = "Requests whose client left or whose deadline passed."
        self.abandoned = counter("niwaki_abandoned_requests", about, ["reason", "computed"])
        self.reload_failures = counter("niwaki_reload_failures", "Reloads that failed; the models before stay.")
        self.registry.register(ServerState(dispatcher))
        dispatcher.on_batch = self.batch

    def batch(self, model: str, batch: Sequence[Slice], seconds: float, joules: float | None) -> None:
        """Called by the dispatcher after each batch."""
        self.batch_tokens.labels(model).observe(sum(part.tokens for part in batch))
        self.batch_seconds.labels(model).observe(seconds)
        self.texts.labels(model).inc(sum(part.stop - part.start for part in batch))

    def finished(self, job: Job) -> None:
        if job.error is None:
            if job.joules is not None:
                self.joules.labels(job.model).observe(job.joules)
            self.tokens.labels(job.model).inc(job.used_tokens)
            self.waited.labels(job.model).observe(max(0.0, job.started_at - job.queued_at))

    def given_up(self, reason: str, computed: bool) -> None:
        self.abandoned.labels(reason, "yes" if computed else "no").inc()

    def text(self) -> bytes:
        """The page that Prometheus reads."""
        return generate_latest(self.registry)


class ServerState:
    """What is read when Prometheus asks: the queue, the worker, and the energy of the server with all its processes."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher
        self.window: Window = meter()
        self.window.__enter__()  # open as long as the process runs

    def collect(self) -> Iterator[Metric]:
        dispatcher = self.dispatcher
        silent, _ = dispatcher.silence()
        reading = self.window.peek()
        yield GaugeMetricFamily("niwaki_queue_requests", "Requests that wait.", len(dispatcher.queue))
        yield GaugeMetricFamily("niwaki_queue_seconds", "Work that waits.", dispatcher.wait_seconds())
        yield GaugeMetricFamily("niwaki_worker_up", "1 if a worker is there.", float(dispatcher.worker is not None))
        yield GaugeMetricFamily("niwaki_worker_silent_seconds", "Time since its last heartbeat.", silent)
        yield CounterMetricFamily(
            "niwaki_worker_restarts", "Workers started after one was lost.", dispatcher.counts.restarts
        )
        yield CounterMetricFamily("niwaki_reloads", "Reloads of the models.", dispatcher.counts.reloads)
        yield CounterMetricFamily("niwaki_batches", "Batches computed.", dispatcher.counts.batches)
        yield CounterMetricFamily(
            "niwaki_server_joules", f"Energy of all processes of the server ({reading.tier}).", reading.joules
        )
        yield CounterMetricFamily("niwaki_server_cpu_seconds", "Processor time of all processes.", reading.cpu_seconds)

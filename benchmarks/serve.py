"""Measures `niwaki serve` under open-loop load: `python benchmarks/serve.py [SECONDS] [SERVER_THREADS]`. Appends to results/serve.jsonl.

MiniLM (6 layers, 384 wide, int8, native engine) with a random head for two labels answers embedded movie reviews. Closed-loop clients measure
the capacity; then requests arrive at constant rates of 0.5, 1, 2 and 10 times that for SECONDS each. Latency counts from the moment at
which a request should have been sent. Between the loads the worker is killed and the models are reloaded.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import numpy as np
import torch
from records import append, circumstances

from niwaki.data.embedded import find_model
from niwaki.engines.native.program_file import write_program
from niwaki.models.edits.int8 import Int8
from niwaki.models.head import Head
from niwaki.models.model import load_folder
from niwaki.tasks import TASKS
from niwaki.tasks._task import Task
from serve.live import LiveServer

LOADS, CLIENTS, MAX_CONNECTIONS = (0.5, 1, 2, 10), 32, 512
TIMEOUT_SECONDS = 5.0


def export(folder: Path) -> Path:
    folder.mkdir()
    place = find_model("minilm")
    assert place is not None, "needs the embedded model"
    torch.manual_seed(0)
    model = load_folder(place, Head(["bad", "good"]))
    model.apply_edit(Int8())
    model.save(folder)
    write_program(model, folder)
    return folder


def bodies() -> list[bytes]:
    """Requests with one review each."""
    rows = TASKS.load("rotten_tomatoes", Task)().splits()["validation"]
    texts = [str(text) for text in rows.column("text").to_pylist()]
    return [request(json.dumps({"inputs": text}).encode()) for text in texts]


def request(body: bytes) -> bytes:
    head = (
        f"POST /v1/predict HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Client:
    """Connections that are used again."""

    def __init__(self, port: int) -> None:
        self.port, self.free, self.open = port, [], 0

    async def send(self, content: bytes) -> int:
        """The status, or 0 if the connection was lost."""
        connection = self.free.pop() if self.free else None
        try:
            if connection is None:
                connection = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = connection
            writer.write(content)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            await reader.readexactly(length)
        except (OSError, asyncio.IncompleteReadError):
            return 0
        self.free.append(connection)
        return int(head[9:12])


async def closed_loop(port: int, contents: list[bytes], seconds: float) -> float:
    """Requests per second with CLIENTS clients that always wait for an answer."""
    client, end, done = Client(port), time.perf_counter() + seconds, Counter()

    async def one(first: int) -> None:
        number = first
        while time.perf_counter() < end:
            done[await client.send(contents[number % len(contents)])] += 1
            number += CLIENTS

    await asyncio.gather(*(one(number) for number in range(CLIENTS)))
    return done[200] / seconds


async def open_loop(port: int, contents: list[bytes], rate: float, seconds: float) -> dict:
    """Requests at a constant rate, whatever the server does."""
    client, statuses, latencies = Client(port), Counter(), []
    tasks: set[asyncio.Task] = set()
    start = time.perf_counter()

    async def one(number: int, due: float) -> None:
        status = await client.send(contents[number % len(contents)])
        statuses[status] += 1
        if status == 200:
            latencies.append(time.perf_counter() - due)

    for number in range(int(rate * seconds)):
        due = start + number / rate
        if (wait := due - time.perf_counter()) > 0:
            await asyncio.sleep(wait)
        task = asyncio.create_task(one(number, due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        if len(tasks) > MAX_CONNECTIONS:  # the client's own limit
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    sending = time.perf_counter() - start
    await asyncio.gather(*tasks)
    whole = time.perf_counter() - start
    return {
        "rate": rate,
        "sent_per_second": int(rate * seconds) / sending,
        "statuses": {str(status): count for status, count in statuses.items()},
        "goodput": statuses[200] / whole,
        "latency_ms": {f"p{share}": 1000 * float(np.percentile(latencies, share)) for share in (50, 95, 99)}
        if latencies
        else {},
    }


def memory_bytes(pid: int) -> int:
    """Resident memory of a process."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return 1024 * int(line.split()[1])


def metric(server: LiveServer, name: str) -> float:
    text = server.request("GET", "/metrics")[1]["text"]
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def lose_worker(server: LiveServer) -> float:
    """Seconds from `kill -9` of the worker until /health is 200 again."""
    began = time.perf_counter()
    os.kill(server.worker, signal.SIGKILL)
    server.until(lambda: server.request("GET", "/health")[0] == 503)
    server.until(lambda: server.request("GET", "/health")[0] == 200)
    return time.perf_counter() - began


def main(seconds: float, threads: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        model, contents = export(Path(folder) / "minilm"), bodies()
        server = LiveServer(model, "--engine", "native", "--threads", threads, "--timeout", TIMEOUT_SECONDS)
        try:
            asyncio.run(closed_loop(server.port, contents, 3))  # to warm up
            capacity = asyncio.run(closed_loop(server.port, contents, max(5.0, seconds / 2)))
            before, loads = memory_bytes(server.process.pid), []
            for factor in LOADS:
                found = asyncio.run(open_loop(server.port, contents, factor * capacity, seconds))
                loads.append({"factor": factor, **found})
                print(loads[-1], flush=True)
                time.sleep(1)
            joules, texts = metric(server, "niwaki_request_joules_sum"), metric(server, "niwaki_texts_total")
            record = {
                "seconds": seconds,
                "threads": threads,
                "capacity": capacity,
                "loads": loads,
                "memory_bytes": [before, memory_bytes(server.process.pid)],
                "worker_memory_bytes": memory_bytes(server.worker),
                "joules_per_text": joules / texts,
                "restart_seconds": lose_worker(server),
                "load_average": os.getloadavg()[0],
            }
        finally:
            code = server.stop()
    append("serve", {**record, "exit_code": code, **circumstances()})
    print(record)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main(
            *(
                kind(word)
                for kind, word in zip((float, int), [*sys.argv[1:], *("20", "1")[len(sys.argv) - 1 :]], strict=True)
            )
        )

"""Runs one job under one energy meter, in the meter's environment, for meters.py."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

KWH = 3.6e6  # joules

# -- meters: each is a context manager that fills in `joules`


@contextmanager
def niwaki_window(folder: Path) -> Iterator[dict[str, Any]]:
    from niwaki.meter import meter

    reading: dict[str, Any] = {}
    with meter(place="FRA") as window:
        yield reading
    own = window.reading
    reading |= {"joules": own.joules, "low": own.joules_low, "high": own.joules_high, "tier": own.tier}


def codecarbon_window(mode: str) -> Callable[[Path], Any]:
    @contextmanager
    def window(folder: Path) -> Iterator[dict[str, Any]]:
        from codecarbon import OfflineEmissionsTracker

        reading: dict[str, Any] = {}
        options = {"save_to_file": False, "log_level": "error", "allow_multiple_runs": True, "measure_power_secs": 1}
        tracker = OfflineEmissionsTracker(country_iso_code="FRA", tracking_mode=mode, **options)
        tracker.start()
        yield reading
        tracker.stop()
        data = tracker.final_emissions_data
        reading |= {"joules": data.energy_consumed * KWH, "cpu_part": data.cpu_energy * KWH}

    return window


@contextmanager
def eco2ai_window(folder: Path) -> Iterator[dict[str, Any]]:
    import csv
    import uuid

    from eco2ai import Tracker

    reading: dict[str, Any] = {}
    file = folder / f"{uuid.uuid4().hex}.csv"
    tracker = Tracker(project_name="p", file_name=str(file), alpha_2_code="FR", measure_period=1, ignore_warnings=True)
    tracker.start()
    yield reading
    tracker.stop()
    with file.open() as lines:  # consumption() is back to 0 after stop()
        reading["joules"] = float(list(csv.DictReader(lines))[-1]["power_consumption(kWh)"]) * KWH


@contextmanager
def carbontracker_window(folder: Path) -> Iterator[dict[str, Any]]:
    from carbontracker.tracker import CarbonTracker

    reading: dict[str, Any] = {}
    # two epochs, one used: after the last one it deletes its figures
    tracker = CarbonTracker(epochs=2, epochs_before_pred=0, verbose=0, log_dir=str(folder))
    tracker.epoch_start()
    yield reading
    tracker.epoch_end()
    reading["joules"] = float(sum(tracker.tracker.total_energy_per_epoch())) * KWH
    tracker.stop()


@contextmanager
def zeus_window(folder: Path) -> Iterator[dict[str, Any]]:
    from zeus.monitor import ZeusMonitor

    reading: dict[str, Any] = {}
    monitor = ZeusMonitor()
    monitor.begin_window("w")
    yield reading
    measured = monitor.end_window("w")
    reading |= {"joules": float(measured.total_energy), "cpu_energy": str(measured.cpu_energy)}


WINDOWS: dict[str, Callable[[Path], Any]] = {
    "niwaki": niwaki_window,
    "codecarbon-machine": codecarbon_window("machine"),
    "codecarbon-process": codecarbon_window("process"),
    "eco2ai": eco2ai_window,
    "carbontracker": carbontracker_window,
    "zeus": zeus_window,
}


# -- jobs: each returns the readings and the CPU seconds used


def burn(cpu_seconds: float) -> float:
    """Spins until this thread has used `cpu_seconds`."""
    start = time.thread_time()
    while time.thread_time() - start < cpu_seconds:
        pass
    return time.thread_time() - start


def measure(window: Callable[[Path], Any], folder: Path, work: Callable[[], float]) -> dict[str, Any]:
    start = time.perf_counter()
    with window(folder) as reading:
        inside = time.perf_counter()
        used = work()
        inside = time.perf_counter() - inside
    return {
        "answers": [reading],
        "cpu_seconds": used,
        "seconds": inside,
        "overhead_seconds": time.perf_counter() - start - inside,
    }


def sleep(window: Callable[[Path], Any], folder: Path) -> dict[str, Any]:
    return measure(window, folder, lambda: time.sleep(3) or 0.0)


def busy(window: Callable[[Path], Any], folder: Path) -> dict[str, Any]:
    return measure(window, folder, lambda: burn(2.0))


def subsecond(window: Callable[[Path], Any], folder: Path) -> dict[str, Any]:
    return measure(window, folder, lambda: burn(0.1))


def children(window: Callable[[Path], Any], folder: Path) -> dict[str, Any]:
    code = "import time\nwhile time.process_time() < 0.2: pass\nprint(time.process_time())"

    def work() -> float:
        command = [sys.executable, "-I", "-S", "-c", code]
        return sum(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(10))

    return measure(window, folder, work)


def nested(window: Callable[[Path], Any], folder: Path) -> dict[str, Any]:
    inner: list[dict[str, Any]] = []

    def work() -> float:
        used = 0.0
        for _ in range(2):
            with window(folder) as reading:
                used += burn(1.0)
            inner.append(reading)
        return used

    outer = measure(window, folder, work)
    return {**outer, "answers": outer["answers"] + inner}


JOBS = {"sleep": sleep, "busy": busy, "two": busy, "children": children, "subsecond": subsecond, "nested": nested}


def probe(meter: str, job: str) -> None:
    """Runs in the meter's environment; prints one JSON line."""
    with tempfile.TemporaryDirectory() as folder:
        result = JOBS[job](WINDOWS[meter], Path(folder))
    print("\n" + json.dumps(result))


if __name__ == "__main__":
    probe(*sys.argv[1:])

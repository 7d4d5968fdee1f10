"""Energy counters of NVIDIA GPUs (Volta and later), through nvidia-ml-py where that is installed."""

import os
import time
from typing import Any

from niwaki.core.extras import install_command
from niwaki.meter.reader import Energy, Reader, Usage, constant

ERROR = 0.15  # a placeholder of niwaki's own survey, not a verified figure
MIN_WATTS = 0.5
LOOK_SECONDS = 0.2  # an idle GPU draws watts too; its counter steps about every 100 ms


class Nvml(Reader):
    name = "nvml"
    rank = 30
    covers = frozenset({"gpu"})

    def __init__(self, wait_seconds: float = LOOK_SECONDS) -> None:
        self.wait_seconds = wait_seconds
        self.nvml: Any = None
        self.devices: list[Any] = []

    def fault(self) -> str | None:
        try:
            import pynvml
        except ImportError:
            return f"nvidia-ml-py is not installed; {install_command('gpu')}"
        self.nvml = pynvml
        try:
            pynvml.nvmlInit()
            self.devices = self._visible()
            return self._liveness() if self.devices else "no NVIDIA GPU"
        except (pynvml.NVMLError, OSError) as error:
            return f"NVML: {error}"

    def _visible(self) -> list[Any]:
        every = range(self.nvml.nvmlDeviceGetCount())
        return [self.nvml.nvmlDeviceGetHandleByIndex(index) for index in visible(every)]

    def _liveness(self) -> str | None:
        """An energy counter that stands still, or runs faster than twice the device's limit, is not believed."""
        before, start = self.snapshot(), time.perf_counter()
        time.sleep(self.wait_seconds)
        after, seconds = self.snapshot(), time.perf_counter() - start
        for index, device in enumerate(self.devices):
            watts = (after[index] - before[index]) / seconds
            limit = self.nvml.nvmlDeviceGetEnforcedPowerLimit(device) / 1e3
            if not MIN_WATTS <= watts <= 2 * limit:
                return f"NVML: the energy counter of GPU {index} gave {watts:.1f} W, which is not plausible"
        return None

    def snapshot(self) -> list[float]:
        try:
            return [self.nvml.nvmlDeviceGetTotalEnergyConsumption(device) / 1e3 for device in self.devices]
        except self.nvml.NVMLError as error:  # a GPU that falls off the bus must not end the work that is metered
            raise OSError(str(error)) from error

    def energy(self, before: list[float], after: list[float], usage: Usage) -> Energy | None:
        joules = sum(after) - sum(before)
        if joules <= 0 or len(before) != len(after):
            return None
        others = self._others()
        band = constant("NVML error", ERROR, "±", "niwaki docs/measuring.md (placeholder)", 2026)
        if others:  # the counter is the device's; how it divides among processes is not known
            share = 1 / (1 + others)
            return Energy(
                joules * share, 0.0, joules * (1 + ERROR), "apportioned", "NVML, shared GPU", constants=[band]
            )
        return Energy(joules, joules * (1 - ERROR), joules * (1 + ERROR), "measured", "NVML", constants=[band])

    def _others(self) -> int:
        running = [self.nvml.nvmlDeviceGetComputeRunningProcesses(device) for device in self.devices]
        return len({process.pid for device in running for process in device} - {os.getpid()})


def visible(every: range) -> list[int]:
    """The devices that CUDA may use. UUIDs are not taken apart: then all count, more and never less."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    if named is None or not all(part.strip().isdigit() for part in named.split(",") if part):
        return list(every)
    return [index for index in every if str(index) in {part.strip() for part in named.split(",")}]

"""A given count of floating-point operations × joules per operation. The last resort: ten times more or less.

Operations per CPU-second differ 85-fold between a matrix product and tanh, so a count alone says little of energy.
"""

from niwaki.core.errors import UsageError, did_you_mean
from niwaki.meter.reader import Energy, Reader, Usage, constant
from niwaki.meter.readers.vcpu import watts_per_vcpu
from niwaki.meter.reading import Reading
from niwaki.meter.tables import rows

BAND = 10.0  # ×/÷


class Flops(Reader):
    name = "flops"
    rank = 50
    covers = frozenset({"cpu"})

    def __init__(self, flops: float | None = None, kind: str = "gemm-512") -> None:
        self.flops, self.kind = flops, kind

    def fault(self) -> str | None:
        return "no FLOP count was given" if self.flops is None else None

    def energy(self, before: object, after: object, usage: Usage) -> Energy | None:
        return None if self.flops is None else energy_of(self.flops, self.kind)


def energy_of(flops: float, kind: str = "gemm-512") -> Energy:
    """Joules of `flops` operations of one kind on this machine's processor, at one vCPU's full-load watts."""
    if flops < 0:
        raise UsageError(f"flops: {flops} operations is below 0; give a count")
    rates = {row["kind"]: row for row in rows("flops")}
    if kind not in rates:
        raise UsageError(f"flops: kind '{kind}' is not known{did_you_mean(kind, list(rates))}")
    row, watts = rates[kind], watts_per_vcpu()
    rate = float(row["gflop_per_cpu_second"]) * 1e9
    joules = flops / rate * watts["max"]
    used = [constant(f"rate of {kind}", rate, "FLOP/CPU-second", row["source"], int(row["year"])), *watts["constants"]]
    return Energy(joules, joules / BAND, joules * BAND, "estimated", f"FLOPs at {kind}", constants=used)


def reading_of(flops: float, kind: str = "gemm-512") -> Reading:
    """The same as a reading; its seconds are 0, because nothing was run."""
    energy = energy_of(flops, kind)
    detail = {"constants": energy.constants, "flops": flops}
    return Reading(0.0, 0.0, energy.joules, energy.low, energy.high, None, energy.tier, energy.source, detail=detail)

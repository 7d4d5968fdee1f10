"""CPU seconds times watts per vCPU."""

from typing import Any

import pytest

from niwaki.meter.reader import Usage
from niwaki.meter.readers.vcpu import VCpu, watts_of, watts_per_vcpu
from niwaki.meter.tables import rows


def cpu(vendor: str, family: int, model: int, stepping: int = 1, virtualised: bool | None = True) -> dict[str, Any]:
    return {"vendor": vendor, "family": family, "model": model, "stepping": stepping, "virtualised": virtualised}


@pytest.mark.parametrize(
    ("processor", "platform", "watts", "band"),
    [
        (cpu("AuthenticAMD", 25, 17), "EPYC4", 2.28, 3.0),
        (cpu("AuthenticAMD", 25, 17, virtualised=False), "EPYC4", 2.28, 2.0),
        (cpu("AuthenticAMD", 25, 1), "EPYC3", 1.96, 3.0),
        (cpu("GenuineIntel", 6, 207), "Emerald Rapids", 4.48, 3.0),
        (cpu("GenuineIntel", 6, 85, stepping=4), "Skylake", 4.10, 3.0),
        (cpu("GenuineIntel", 6, 85, stepping=7), "Cascade Lake", 4.06, 3.0),
        (cpu("AuthenticAMD", 26, 2, virtualised=False), "unknown", 3.76, 3.0),  # EPYC5: its row is not trusted
        ({"vendor": None, "family": None, "model": None, "stepping": None, "virtualised": None}, "unknown", 3.76, 3.0),
    ],
)
def test_watts_depend_on_the_processor(processor: dict[str, Any], platform: str, watts: float, band: float) -> None:
    found = watts_of(processor)
    assert (found["platform"], found["max"], found["band"]) == (platform, watts, band)


def test_attributed_marginal_and_idle_energy_match_values_computed_by_hand() -> None:
    watts = watts_per_vcpu()
    energy = VCpu().energy(None, None, Usage(seconds=10.0, cpu_seconds=4.0, vcpus=2))
    assert energy.joules == pytest.approx(4 * watts["max"])
    assert energy.marginal == pytest.approx(4 * (watts["max"] - watts["min"]))
    assert energy.extra["idle_joules"] == pytest.approx((2 * 10 - 4) * watts["min"])
    # attributed + idle rest = the whole machine: marginal of the work + idle draw of all vCPUs all the time
    whole = energy.joules + energy.extra["idle_joules"]
    assert whole == pytest.approx(energy.marginal + watts["min"] * 2 * 10)


def test_every_known_processor_has_watts() -> None:
    assert {row["platform"] for row in rows("processors")} <= {row["platform"] for row in rows("watts")}

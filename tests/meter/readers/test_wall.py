"""A file that a wall meter or a hypervisor writes."""

from pathlib import Path

import pytest

from meter.usages import ALL_OURS
from meter.work import burn
from niwaki.core.errors import InputError
from niwaki.meter import meter
from niwaki.meter.readers.wall import Wall
from niwaki.meter.window import ReaderSet


@pytest.mark.parametrize(
    ("name", "text", "joules"),
    [("energy_uj", "5000000", 5.0), ("total.wh", "2", 7200.0), ("plug_kwh", "0.001", 3600.0), ("meter", "12.5", 12.5)],
)
def test_unit_of_an_energy_file_is_read_from_its_name(tmp_path: Path, name: str, text: str, joules: float) -> None:
    (tmp_path / name).write_text(text)
    assert Wall(tmp_path / name).snapshot() == pytest.approx(joules)


def test_energy_file_is_preferred_and_apportioned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "plug_j"
    file.write_text("100")
    monkeypatch.setenv("NIWAKI_ENERGY_FILE", str(file))
    monkeypatch.setenv("NIWAKI_ENERGY_ERROR", "0.02")
    with meter(readers=ReaderSet()) as m:
        burn(0.05)
        file.write_text("103")
    assert m.reading.source == "energy file plug_j" and m.reading.detail["machine_joules"] == pytest.approx(3)
    assert m.reading.joules is not None and 0 < m.reading.joules <= 3
    energy = Wall().energy(100.0, 103.0, ALL_OURS)
    assert energy is not None and energy.tier == "measured" and energy.joules == pytest.approx(3)
    assert energy.high == pytest.approx(3 * 1.02)


def test_stalled_or_reset_meter_is_not_trusted(tmp_path: Path) -> None:
    assert Wall(tmp_path / "x").energy(5.0, 5.0, ALL_OURS) is None
    assert Wall(tmp_path / "x").energy(5.0, 1.0, ALL_OURS) is None


@pytest.mark.parametrize("text", [None, "", "soon"])
def test_unreadable_energy_file_is_rejected(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "plug_j"
    if text is not None:
        file.write_text(text)
    with pytest.raises(InputError, match=r"plug_j.*fix or unset"):
        Wall(file).fault()

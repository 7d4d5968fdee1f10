"""Sums of readings, and the ledger by stage."""

from niwaki.report.readings import add, charges, reading, spent

from . import runs


def known(joules: float | None, tier: str = "estimated") -> dict[str, object]:
    return reading(runs.reading(joules, 10.0, tier))


def test_a_sum_with_an_unknown_part_is_a_lower_bound() -> None:
    total = add([known(100.0), known(None)])
    assert (total["joules"], total["seconds"], total["unknown"]) == (100.0, 20.0, 1)
    assert (total["joules_low"], total["joules_high"]) == (60.0, 150.0)
    assert add([known(None)])["joules"] is None and add([])["joules"] is None


def test_the_weakest_tier_is_the_tier_of_the_sum() -> None:
    assert add([known(1.0, "measured"), known(1.0)])["tier"] == "estimated"
    assert add([known(1.0, "measured"), known(None)])["tier"] == "measured"


def test_co2e_needs_every_part() -> None:
    parts = [{**known(1.0), "co2e_grams": 2.0}, {**known(1.0), "co2e_grams": None}]
    assert add(parts)["co2e_grams"] is None
    assert add(parts[:1])["co2e_grams"] == 2.0


def test_a_reading_without_joules_is_unknown_whatever_it_claims() -> None:
    assert reading({"tier": "measured", "joules": None})["tier"] == "unknown"
    assert reading("nonsense")["tier"] == "unknown"
    assert reading({"tier": "guessed", "joules": 1})["tier"] == "unknown"


def test_failed_attempts_are_counted() -> None:
    total = spent(runs.ledger(["teacher", "student"]), ["teacher", "student"])
    student = total["stages"][1]
    assert student["stage"] == "student" and student["entries"] == 4 and student["statuses"]["killed"] == 1
    assert student["reading"]["joules"] == 2_100 + 160 + 90 + 700
    assert total["lost"]["joules"] == 700
    assert total["total"]["joules"] == 2 * 2_350 + 700
    assert set(student["by"]) == {"train", "evaluate", "speed"}


def test_beats_are_not_charges_and_open_work_counts_with_its_last_beat() -> None:
    def line(event: str, mark: str, joules: float | None = None) -> dict[str, object]:
        return {"event": event, "id": mark, "stage": "teacher", "what": "train", "reading": runs.reading(joules)}

    ledger = [line("begin", "a"), line("beat", "a", 5.0), {**line("charge", "a", 9.0), "status": "done"}]
    ledger += [{**line("charge", "a", 9.0), "status": "killed"}]  # recovered by a second process: counted once
    ledger += [line("begin", "b"), line("beat", "b", 2.0), line("beat", "b", 3.0), line("begin", "c")]
    assert [item["status"] for item in charges(ledger)] == ["done", "open", "open"]
    total = spent(ledger, ["teacher"])
    assert total["total"]["joules"] == 12.0 and total["total"]["unknown"] == 1
    assert total["stages"][0]["statuses"]["open"] == 2 and total["lost"]["joules"] is None

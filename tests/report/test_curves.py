"""Curves of training."""

from niwaki.report.curves import curve, thin


def test_curves_are_thinned_and_repeated_steps_count_once() -> None:
    lines = [{"kind": "step", "step": s, "loss": 1.0} for s in (1, 2, 2, 3)] + [
        {"kind": "step", "step": 3, "loss": 5.0}
    ]
    assert curve([*lines, {"kind": "step", "loss": None}])["loss"] == [[1, 1.0], [2, 1.0], [3, 5.0]]
    assert thin([[0, 1], [1, 3], [2, 5]], points=2) == [[0.5, 2], [2, 5]]
    assert len(thin([[s, 0] for s in range(10_000)])) <= 160

"""The plot of a stage's training."""

import re

from niwaki.report.plots.training import HEIGHT, WIDTH, draw

LOSS = [[4.0, 0.7], [8.0, 0.5], [12.0, 0.4]]
SCORES = [[4.0, 0.80], [8.0, 0.84], [12.0, 0.83]]


def test_loss_is_a_line_and_every_score_a_point():
    drawing = draw("teacher", LOSS, SCORES, "accuracy", "{:.2f}".format)
    assert drawing.count(' class="loss">') == 1 and drawing.count('class="mark"') == 3
    assert "Training of teacher" in drawing and "Last validation accuracy: 0.83." in drawing
    assert [f"step {step}: {score}" in drawing for step, score in ((4, "0.80"), (8, "0.84"), (12, "0.83"))] == [
        True
    ] * 3


def test_the_best_score_is_larger():
    drawing = draw("teacher", LOSS, SCORES, "accuracy", "{:.2f}".format)
    points = re.findall(r"<title>(step \d+): .*?r=\"([\d.]+)\" class=\"mark\"", drawing)
    assert [step for step, radius in points if radius == "4.5"] == ["step 8"]


def test_either_may_be_missing():
    only_loss = draw("teacher", LOSS, [], "accuracy", str)
    assert "No validation score." in only_loss and 'class="mark"' not in only_loss
    only_scores = draw("teacher", [], SCORES, "accuracy", "{:.2f}".format)
    assert only_scores.count('class="mark"') == 3 and "loss-name" not in only_scores


def test_everything_lies_within_the_picture():
    drawing = draw("teacher", LOSS, SCORES, "accuracy", "{:.2f}".format)
    circles = re.findall(r'<circle cx="([\d.-]+)" cy="([\d.-]+)"', drawing)
    assert circles and all(0 <= float(x) <= WIDTH and 0 <= float(y) <= HEIGHT for x, y in circles)


def test_a_single_step_and_equal_values_are_drawn():
    drawing = draw("teacher", [[1.0, 0.5]], [[1.0, 0.0]], "accuracy", str)
    assert not re.search(r"nan|inf", drawing)


def test_steps_are_whole_numbers():
    drawing = draw("teacher", [[1.0, 0.5], [2.0, 0.4]], [], "accuracy", str)
    ticks = re.findall(r'text-anchor="middle"[^>]*>([\d.,]+)<', drawing)
    assert all("." not in tick for tick in ticks)

"""SVG elements."""

from niwaki.report.plots import svg


def test_text_is_escaped() -> None:
    drawing = svg.tag("text", "<b>&", class_='"x', data_tip="'")
    assert str(drawing) == '<text class="&#34;x" data-tip="&#39;">&lt;b&gt;&amp;</text>'

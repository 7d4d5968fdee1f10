"""Bar charts."""

import pytest


def test_bar_chart_is_one_svg_with_escaped_names():
    from xml.etree import ElementTree

    from niwaki.report.plots.bar_chart import bar_chart

    drawn = ElementTree.fromstring(
        str(bar_chart({"<mixed>": {"a & b": (100.0, 90.0, 110.0), "c": (50.0, 0.0, 60.0)}}, "texts/s"))
    )
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [one.text for one in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<mixed>", "a & b", "c", "100 texts/s"} <= set(texts)
    long, short = (float(one.get("width")) for one in drawn.iter("{http://www.w3.org/2000/svg}rect"))
    assert long == pytest.approx(2 * short, rel=0.02)

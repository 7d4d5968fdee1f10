"""The report in Markdown."""

from niwaki.report.markdown import fenced, plain


def test_text_is_escaped_or_fenced() -> None:
    assert plain("a_b|c\nd <e>") == r"a\_b\|c d \<e\>"
    assert plain("https://x.invalid") == r"https:\//x.invalid"
    assert fenced("x\n```\ny").startswith("````\n")

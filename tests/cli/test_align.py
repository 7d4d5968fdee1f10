"""`niwaki align SOURCE TARGET`."""

import json

from vectors.spaces import pairs, two_tables


def test_precision_and_changes_are_printed(niwaki, rejected, tmp_path):
    for name, table in zip("ab", two_tables(noise=0.1), strict=True):
        table.write(tmp_path / f"{name}.vec")
    (tmp_path / "pairs.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs(range(100))))
    given = (
        "align",
        tmp_path / "a.vec",
        tmp_path / "b.vec",
        "--dictionary",
        tmp_path / "pairs.txt",
        "--test",
        tmp_path / "pairs.txt",
    )
    done = niwaki(*given, "--out", tmp_path / "mapped.vec")
    assert (
        done.code == 0
        and done.out.startswith("100 word pairs, 300 and 300 words\nP@1 ")
        and (tmp_path / "mapped.vec").is_file()
    )
    assert "100 of 100 test words have vectors" in done.out
    assert json.loads(niwaki(*given, "--json").out)["test"]["covered"] == 100
    same = niwaki("align", tmp_path / "a.vec", tmp_path / "a.vec", "--changes", "2").out.splitlines()
    assert same[1].split() == ["word", "cosine", "shared", "source", "target"] and len(same) == 4
    assert "no such words in common" in rejected("align", tmp_path / "a.vec", tmp_path / "b.vec")

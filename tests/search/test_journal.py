"""The journal survives kills: torn lines and lines out of order are passed over."""

from niwaki.search.journal import Journal


def test_a_journal_is_read_back(tmp_path):
    path = tmp_path / "trials.jsonl"
    journal = Journal(path)
    assert journal.source is None and journal.trials == [] and not path.exists()
    journal.add_source({"score": 0.9, "seconds": 3.0})
    for value in (1, 2):
        journal.add({"point": {"a": value}, "seconds": 0.5})
    again = Journal(path)
    assert again.source["score"] == 0.9 and [trial["number"] for trial in again.trials] == [0, 1]
    assert again.seconds == 4.0


def test_a_torn_line_is_repeated(tmp_path):
    path = tmp_path / "trials.jsonl"
    journal = Journal(path)
    journal.add({"point": {"a": 1}, "seconds": 1})
    journal.add({"point": {"a": 2}, "seconds": 1})
    path.write_bytes(path.read_bytes()[:-9])
    again = Journal(path)
    assert [trial["point"]["a"] for trial in again.trials] == [1]
    again.add({"point": {"a": 2}, "seconds": 1})
    assert [trial["point"]["a"] for trial in Journal(path).trials] == [1, 2]


def test_trials_after_a_damaged_one_do_not_count(tmp_path):
    path = tmp_path / "trials.jsonl"
    journal = Journal(path)
    for value in (1, 2, 3):
        journal.add({"point": {"a": value}, "seconds": 1})
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1].replace('"a": 2', '"a": 7'), lines[2]]) + "\n")
    assert [trial["point"]["a"] for trial in Journal(path).trials] == [1]

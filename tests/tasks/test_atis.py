"""ATIS."""

from niwaki.tasks.atis import Atis
from tasks.rows import folder


def test_order_of_conjuncts_counts_in_one_of_two_scores(tmp_path):
    row = {
        "utterance": "from ci0 to ci1",
        "logical_form": "( lambda $0 e ( and ( from $0 ci0 ) ( to $0 ci1 ) ( flight $0 ) ) )",
    }
    rows = [{**row, "utterance": f"{row['utterance']} {n}"} for n in range(12)]
    folder(tmp_path / "atis", train=rows, dev=rows[:4], test=rows[:4])
    task = Atis(path=str(tmp_path))
    other = "( lambda $0 e ( and ( flight $0 ) ( to $0 ci1 ) ( from $0 ci0 ) ) )"
    wrong = "( lambda $0 e ( and ( flight $0 ) ( to $0 ci0 ) ( from $0 ci1 ) ) )"
    example_stats = task.scorer.example_stats([row["logical_form"], other, wrong, "( lambda"], task.splits()["test"])
    assert example_stats.tolist() == [[1, 1], [0, 1], [0, 0], [0, 0]]
    assert task.scorer.scores(example_stats) == {"exact": 0.25, "exact_unordered": 0.5}

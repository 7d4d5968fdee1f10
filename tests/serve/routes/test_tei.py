import pytest

pytest.importorskip("fastapi")

from niwaki.serve.routes.tei import sequences_of


def post(server, **body):
    return server.request("POST", "/predict", body)


def test_a_text_has_its_scores_highest_first(served):
    found = post(served(), inputs="good").json
    assert [one["label"] for one in found] == ["good", "bad"] and found[0]["score"] == pytest.approx(0.9)


def test_batches_have_a_list_for_each_sequence(served):
    found = post(served(), inputs=[["bad"], ["good", "b"]]).json
    assert [row[0]["label"] for row in found] == ["bad", "good"]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a", (False, ["a"])),
        (["a"], (False, ["a"])),
        (["a", "b"], (False, [["a", "b"]])),
        ([["a"]], (True, ["a"])),
        ([["a"], ["b", "c"]], (True, ["a", ["b", "c"]])),
    ],
)
def test_inputs_are_read_as_tei_reads_them(given, expected):
    assert sequences_of(given) == expected


def test_what_is_not_available_is_rejected(served):
    server = served()
    assert post(server, inputs="a", raw_scores=True).error == "raw_scores"
    assert post(server, inputs="a", model="vectors").error == "wrong_model"
    assert post(server, inputs=[]).status == 422 == post(server, inputs=[["a"], "b"]).status

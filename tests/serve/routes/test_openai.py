import base64

import numpy as np
import pytest

pytest.importorskip("fastapi")


def post(server, **body):
    return server.request("POST", "/v1/embeddings", body)


def test_embeddings_have_the_format_of_openai(served):
    found = post(served(), input=["a", "b"], model="vectors").json
    assert found["object"] == "list" and found["model"] == "vectors"
    assert [one["index"] for one in found["data"]] == [0, 1] and found["data"][0]["object"] == "embedding"
    assert found["data"][1]["embedding"] == [0.6, 0.8]
    assert found["usage"] == {"prompt_tokens": 10, "total_tokens": 10}


def test_base64_holds_the_same_numbers(served):
    found = post(served(), input="a", encoding_format="base64").json["data"][0]["embedding"]
    assert np.frombuffer(base64.b64decode(found), "<f4").tolist() == pytest.approx([0.6, 0.8])


def test_other_models_and_sizes_are_rejected(served):
    server = served()
    assert post(server, input="a", model="letters").error == "wrong_model"
    assert post(server, input="a", model="text-embedding-3-small").status == 404
    assert post(server, input="a", dimensions=1).error == "dimensions"
    assert post(server, input="a", dimensions=2).status == 200
    assert post(server, input=[[1, 2]]).status == 422 == post(server).status

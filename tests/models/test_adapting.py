"""Networks as families describe them, and back to the tensors that transformers expects."""

import pytest
import torch
import transformers

import tiny
from niwaki.models.model import load_folder


@pytest.mark.parametrize(
    ("family", "head"),
    [("llama", "QuestionAnswering"), ("modernbert", "QuestionAnswering"), ("gpt2", "TokenClassification")],
)
@torch.no_grad()
def test_saved_tensors_have_the_names_of_transformers(family, head, tmp_path):
    """Under the head for spans, the body of a Llama has another name."""
    model = tiny.model(family, head=head)
    model.save(tmp_path)
    stock, report = getattr(transformers, f"AutoModelFor{head}").from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    again = load_folder(tmp_path)
    assert again.tensors().keys() == stock.state_dict().keys()
    assert all(torch.equal(value, again.tensors()[name]) for name, value in stock.state_dict().items())

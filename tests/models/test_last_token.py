"""XLNet's summary reads the last token of each text, wherever padding is."""

import torch

import tiny


@torch.no_grad()
def test_padding_behind_a_text_changes_nothing():
    network = tiny.model("xlnet").network
    ids = torch.tensor([[7, 8, 9]])
    padded, mask = torch.tensor([[7, 8, 9, 0, 0]]), torch.tensor([[1, 1, 1, 0, 0]])
    alone = network(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
    torch.testing.assert_close(network(input_ids=padded, attention_mask=mask).logits, alone, atol=1e-5, rtol=0)
    torch.testing.assert_close(network(input_ids=ids).logits, alone)

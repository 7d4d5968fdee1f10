"""What is mT5's own; what it shares with T5 is in `test_t5.py`, and with all that write in `tests/models/test_stock.py`."""

import torch
import transformers

import stock
from niwaki.models.model import load_folder


@torch.no_grad()
def test_an_output_with_numbers_of_its_own_is_not_scaled(tmp_path):
    """T5 scales hidden states before the token table; mT5's output never is the token table."""
    folder = stock.folder("mt5", tmp_path)
    model = load_folder(folder)
    hidden = torch.randn(3, 32)
    normed = (
        hidden * hidden.pow(2).mean(-1, keepdim=True).add(1e-6).rsqrt() * model.network.decoder.final_layer_norm.weight
    )
    torch.testing.assert_close(model.anatomy.decoder.logits(hidden), normed @ model.network.lm_head.weight.T)
    wanted = transformers.MT5ForConditionalGeneration.from_pretrained(folder).eval()
    ids = model.tokenizer(["one two three", "four"], padding=True, return_tensors="pt")
    labels = torch.tensor([[3, 4, 1], [5, 1, -100]])
    torch.testing.assert_close(model.network.eval()(**ids, labels=labels).logits, wanted(**ids, labels=labels).logits)

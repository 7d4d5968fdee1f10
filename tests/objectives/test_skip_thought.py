"""Skip-thoughts: the loss written out sentence by sentence."""

import torch
from torch.nn import functional

from niwaki.models.forward import forward

from .embedding import DOCUMENTS, prepared


def test_both_neighbours_are_generated_from_the_embedding():
    given = {"use": "skip_thought", "decoder_size": 12, "max_generated": 4}
    model, objective, features, batch = prepared(given, "bert", layers=1)
    outputs = forward(model.anatomy, batch)
    table, total, count = model.anatomy.tokens.weight, 0.0, 0
    for side, distance in (("before", -1), ("behind", 1)):
        decoder = objective.helpers[side]
        for row in range(len(DOCUMENTS)):
            other = row + distance
            if not 0 <= other < len(DOCUMENTS) or DOCUMENTS[row] != DOCUMENTS[other]:
                continue
            ids = torch.from_numpy(features.rows.ids[other][:5].astype("int64"))
            read = torch.cat([table[ids[:-1]], outputs.logits[row].expand(len(ids) - 1, -1)], dim=1)
            states, _ = decoder.gru(read[None])
            total += functional.cross_entropy(decoder.out(states[0]) @ table.T, ids[1:], reduction="sum")
            count += len(ids) - 1
    torch.testing.assert_close(objective.loss(outputs, batch), total / count)


def test_sentences_without_neighbours_have_no_loss():
    model, objective, _, batch = prepared({"use": "skip_thought", "decoder_size": 12})
    batch.targets.copy_(torch.arange(len(batch.targets)))
    loss = objective.loss(forward(model.anatomy, batch), batch)
    loss.backward()
    assert loss.item() == 0

"""Character vectors by several hash functions, by hand."""

import torch
from torch import nn

from niwaki.models.hash_table import HashTable, hash_names


def test_each_table_gives_a_part_of_the_vector():
    tables = [nn.Embedding.from_pretrained(torch.arange(10.0)[:, None] + 100 * number) for number in range(2)]
    found = HashTable(tables)(torch.tensor([[0, 6]]))
    assert found.tolist() == [[[31 % 10, 143 % 10 + 100 - 140 % 10 + 0], [7 * 31 % 10, 7 * 43 % 10 + 100]]]
    assert HashTable(tables).embedding_dim == 2 and HashTable(tables).inner == ("0", "1")


def test_tensors_have_the_names_of_checkpoints():
    assert [*hash_names({"a.hash_table.3.weight": torch.ones(1), "b.weight": torch.ones(1)})] == [
        "a.HashBucketCodepointEmbedder_3.weight",
        "b.weight",
    ]

"""Kinds of answers: how inputs become rows of tokens and logits become answers. One file each, no torch: deployments use them."""

from niwaki.core.catalog import Catalog

ANSWERS = Catalog("niwaki.answers", what="kind of answer")

"""Training objectives: how rows become batches, what is minimized, how a model is scored, which head it needs. One file each."""

from niwaki.core.catalog import Catalog

OBJECTIVES = Catalog("niwaki.objectives", what="objective")

"""Merges deltas that are linear, LoRA and (IA)³, into the matrices around which they are."""

from niwaki.models.anatomy import Anatomy, Network
from niwaki.models.deltas._delta import merged, tuned_paths
from niwaki.models.edit import Edit
from niwaki.models.module_paths import replace_modules


class MergeDeltas(Edit):
    """Packed matrices are packed again, and rounded with the delta. Other deltas stay."""

    def apply(self, network: Network, anatomy: Anatomy) -> None:
        replace_modules(network, tuned_paths(network), merged)

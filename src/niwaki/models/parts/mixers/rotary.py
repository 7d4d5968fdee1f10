"""Multi-head attention with rotary positions (Su et al. 2021; `models/rotary.py`). Heads may share keys and values, and attend to near
tokens alone."""

from typing import ClassVar

from torch import Tensor

from niwaki.models.grouped_heads import key_heads_of
from niwaki.models.layout import Layout
from niwaki.models.parts.mixers.attention import Attention
from niwaki.models.rotary import rotated


class Rotary(Attention):
    native: ClassVar[str | None] = "rotary"

    @property
    def key_heads(self) -> list[int] | None:  # type: ignore[override]
        return key_heads_of(self.layer.part("attention_module"))

    @property
    def window(self) -> int:  # type: ignore[override]
        key = self.layer.paths.window_key
        return int(getattr(self.layer.part("attention_module"), key) or 0) if key else 0

    @property
    def constants(self) -> tuple[object, ...]:
        keys = self.key_heads
        shared = None if keys is None or keys == [*range(len(keys))] else tuple(keys)
        return *super().constants, shared, self.window, rotated(self.layer.part("attention_module"))

    def place(self, query: Tensor, key: Tensor, layout: Layout) -> tuple[Tensor, Tensor]:
        rotation = rotated(self.layer.part("attention_module"))
        cosines, sines = layout.cached(rotation, lambda: rotation.angles(layout.positions()))
        if query.shape[-2] == key.shape[-2]:  # else the first tokens', which are not rotated
            query = rotation.turn(query, cosines, sines)
        return query, rotation.turn(key, cosines, sines)

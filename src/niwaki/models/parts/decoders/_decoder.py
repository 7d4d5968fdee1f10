"""The decoder of a sequence-to-sequence network: its layers, and how it generates one token after the other."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import torch
from torch import Tensor, nn

from niwaki.models.attention import padding_bias
from niwaki.models.decoding import DecoderLayer, KeyValue, cross_keys_and_values, run_decoder, run_packed_decoder
from niwaki.models.family import DecoderPaths
from niwaki.models.forward import encode_packed, layer_range
from niwaki.models.layer import Layer
from niwaki.models.layout import Packed
from niwaki.models.parts._part import NativeForm
from niwaki.models.record import DECODER_HIDDEN, Record

if TYPE_CHECKING:
    from niwaki.models.anatomy import Anatomy


class Decoder(NativeForm):
    """Base of the files in `parts/decoders/`. A decoder says how it embeds tokens and how it makes logits."""

    has_own_layers: ClassVar[bool] = True  # else the encoder's layers generate

    def __init__(self, anatomy: "Anatomy", paths: DecoderPaths) -> None:
        self.anatomy, self.network, self.paths = anatomy, anatomy.network, paths

    def embed(self, ids: Tensor, first: Tensor | int) -> Tensor:
        """Generated tokens (batch, tokens), the first of them at position `first`, to (batch, tokens, hidden)."""
        raise NotImplementedError

    def logits(self, hidden: Tensor) -> Tensor:
        """Hidden states of the last layer (…, hidden) to (…, vocabulary)."""
        raise NotImplementedError

    def encoder_output(self, hidden: Tensor) -> Tensor:
        """Hidden states of the encoder's last layer as the decoder reads them."""
        return hidden

    def position_bias(self, places: Tensor, tokens: int) -> Tensor | None:
        """What tokens at these places add to their scores of the first `tokens` ones, (1, heads, places, tokens)."""
        return None

    @property
    def max_tokens(self) -> int:
        """How many tokens it can generate."""
        return self.anatomy.max_tokens

    @property
    def constants(self) -> list[object]:
        """What the config decides and no tensor shows."""
        return []

    # ── what can be cut ─────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def layers(self) -> list[DecoderLayer]:
        modules = self.network.get_submodule(self.paths.layer_list).children()
        return [(Layer(module, self.paths.own), Layer(module, self.paths.cross)) for module in modules]

    def keep_layers(self, keep: list[int]) -> None:
        """These layers stay, in this order."""
        modules = [own.module for own, _ in self.layers]
        self.network.set_submodule(self.paths.layer_list, nn.ModuleList([modules[number] for number in keep]))
        setattr(self.network.config, self.paths.depth_key, len(keep))

    def keep_tokens(self, keep: list[int]) -> None:
        """These tokens can be generated, of those of the input stage; called where both have one vocabulary."""

    @property
    def token_tables(self) -> list[str]:
        """Paths of embedding tables other than those of the input stage: one vector per token,"""
        return []

    @property
    def small_tables(self) -> list[str]:
        """and others,"""
        return []

    @property
    def norms(self) -> list[str]:
        """and of norms outside of the layers."""
        return []

    def real_tokens(self, path: str, read: Tensor, generated: Tensor) -> Tensor:
        """Which tokens the matrix at a path is given: the masks (batch, tokens) of the input or of the generated tokens."""
        names = {id(module): name for name, module in self.network.named_modules()}
        whole = [f"{names[id(own.module)]}." for own, _ in self.layers]
        memory = [
            f"{names[id(cross.module)]}.{cross.path(role)}" for _, cross in self.layers for role in ("key", "value")
        ]
        whole += [self.anatomy.head.final] if self.anatomy.head.final else []
        own = path.startswith(tuple(whole)) and not f"{path}.".startswith(tuple(f"{one}." for one in memory))
        return generated if own else read

    # ── the forward pass ────────────────────────────────────────────────────────────────────────────────────────────

    def forward(self, inputs: Mapping[str, Tensor], record: Record, predicted: Tensor | None = None) -> Tensor:
        """All generated tokens at once, each predicted from those before it: (batch, tokens, vocabulary). Where `predicted`, a mask
        (batch, tokens), names the real ones, only these are computed: (real tokens, vocabulary)."""
        encoded = encode_packed(self.anatomy, inputs, record, self.encoder_output)
        targets = inputs["decoder_input_ids"]
        hidden = self.embed(targets, 0)
        bias = self.position_bias(torch.arange(targets.shape[1], device=targets.device), targets.shape[1])
        passed, padding = record.get(DECODER_HIDDEN), padding_bias(self.anatomy.inputs.mask(inputs), hidden)
        if passed is not None:
            passed.append(hidden)
        memory = cross_keys_and_values(self.layers, encoded)
        if predicted is None:
            return self.logits(run_decoder(self.layers, hidden, memory, padding, bias=bias, record=passed)[0])
        layout = Packed(predicted, causal=True)
        layout.whole_bias = lambda: bias
        rows = run_packed_decoder(self.layers, layout.pack(hidden), layout, memory, padding, passed)
        return self.logits(layout.pick(rows, predicted))

    def encode(self, inputs: Mapping[str, Tensor]) -> list[KeyValue]:
        """What the decoder reads of the input: keys and values for each of its layers."""
        hidden = self.anatomy.inputs.forward(inputs)
        hidden = layer_range(self.anatomy, hidden, inputs, 0, len(self.anatomy.order), every=True)
        return cross_keys_and_values(self.layers, self.encoder_output(hidden))

    def decode_step(
        self, ids: Tensor, place: Tensor, mask: Tensor, memory: Sequence[KeyValue], past: Sequence[KeyValue]
    ) -> tuple[Tensor, list[KeyValue]]:
        """The last token of each hypothesis (texts, hypotheses), all at one place, to the log-probabilities of the next
        (texts, hypotheses, vocabulary), and the past with that token."""
        hidden = self.embed(ids.reshape(-1, 1), place).reshape(*ids.shape, -1)
        bias = self.position_bias(place.reshape(1), past[0][0].shape[2] + 1)
        hidden, now = run_decoder(self.layers, hidden, memory, padding_bias(mask, hidden), past, bias=bias)
        return torch.log_softmax(self.logits(hidden).float(), dim=-1), now

    def empty_past(self, hypotheses: int, like: Tensor) -> list[KeyValue]:
        """The past of hypotheses that have not begun."""
        attentions = [own.mixer for own, _ in self.layers if not own.mixer.removed]
        return [(like.new_zeros(hypotheses, one.heads, 0, one.head_size),) * 2 for one in attentions]

"""What all parts of a network have in common."""

from typing import ClassVar

from niwaki.core.settings import Settings


class NativeForm:
    """How the native engine runs a part: the name of its translation (engines/native/translate.py), or None and why there is none."""

    native: ClassVar[str | None] = None
    no_native: ClassVar[str] = ""


class Part(NativeForm):
    """A part is made of a family's modules, or is an `nn.Module` of its own that `edits/replace_part.py` puts in.

    Matrices have roles. Pruning, quantization, factorization and slicing go through the roles and need not know the part. The
    roles of a module are the names of its attributes.
    """

    from_hidden: ClassVar[tuple[str, ...]] = ()  # matrices whose inputs are hidden states
    to_hidden: ClassVar[tuple[str, ...]] = ()  # matrices whose outputs are hidden states
    between: ClassVar[tuple[str, ...]] = ()  # matrices between vectors of other sizes
    floats: ClassVar[
        tuple[str, ...]
    ] = ()  # the same as `from_hidden`, but too sensitive to be pruned, packed or factorized
    settings: ClassVar[type[Settings]] = Settings  # what `replace_part` may set

    @classmethod
    def label(cls) -> str:
        """The name of its file."""
        return cls.__module__.rpartition(".")[2]

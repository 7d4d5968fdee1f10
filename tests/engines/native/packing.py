"""Random programs as packed files."""

from pathlib import Path

from engines.native.shapes import Drawn
from niwaki.engines.native.packed_file import ANSWERS, Contents, image_of
from niwaki.engines.native.program_parts import Parts

LABELS = [f"label {number}" for number in range(7)]


def write_drawn(seed: int, processor: str, folder: Path) -> tuple[Drawn, Path]:
    """A random encoder, and its packed file."""
    drawn = Drawn(seed)
    labels = LABELS[: Parts(drawn.program, drawn.tensors, "here").sizes.labels]
    contents = Contents(labels, ANSWERS[seed % 2], drawn.longest, None)
    path = folder / f"{processor}-{seed}.niwaki"
    path.write_bytes(image_of(drawn.program, drawn.tensors, "here", processor, contents))
    return drawn, path

"""niwaki: pretrained language models, shaped down to what a task needs."""

__version__ = "0.1.0"

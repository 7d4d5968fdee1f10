"""A vector for each image, from an encoder without a task head."""

from typing import ClassVar

from niwaki.answers._images import ImageInputs
from niwaki.answers.embedding import Embedding


class ImageEmbedding(ImageInputs, Embedding):
    architecture: ClassVar[str] = "FeatureExtraction"

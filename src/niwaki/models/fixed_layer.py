"""Plain layers of networks whose hidden states have one size, because of what lies before them or how they are stored."""

from niwaki.models.layer import Layer


class FixedLayer(Layer):
    fixed = "hidden states and parts of this family stay as they are; take 'heads', 'ffn' or 'layers', or a method that packs matrices"

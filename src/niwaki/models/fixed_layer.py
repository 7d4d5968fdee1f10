"""Plain layers behind an input stage that has layers of its own."""

from niwaki.models.layer import Layer


class FixedLayer(Layer):
    fixed = "the input stage of this family has a layer of its own; take 'heads', 'ffn' or 'depth', or a method that packs matrices"

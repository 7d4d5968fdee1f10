"""The co2_eq_emissions of a model card."""

from dataclasses import replace

import pytest
import yaml
from huggingface_hub import ModelCardData

from niwaki.core.errors import InputError
from niwaki.meter.label_formats._format import render

from .sample import SAMPLE, WITHOUT_PLACE


def test_emissions_of_the_training_are_in_grams():
    fields, text = render("hf", SAMPLE)
    emissions = fields["co2_eq_emissions"]
    assert emissions.pop("emissions") == pytest.approx(1.2)  # 0.002 kWh × 1.2 × 500 g/kWh
    assert emissions == {
        "source": "niwaki (estimated)",
        "training_type": "fine-tuning",
        "geographical_location": "own intensity",
        "hardware_used": "Example CPU",
    }
    read = yaml.safe_load(text)
    assert ModelCardData(**read).to_dict() == read


def test_unknown_emissions_are_an_error_with_the_fix():
    with pytest.raises(InputError, match="give --place"):
        render("hf", WITHOUT_PLACE)
    with pytest.raises(InputError, match="give the folder of a run"):
        render("hf", replace(SAMPLE, training=None))

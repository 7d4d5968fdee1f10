"""What programs say of input stages."""

import pytest

from engines.native.test_translate import program
from niwaki.engines.native.program import MOST_POSITIONS


def test_positions_start_where_the_family_says():
    assert program("bert")[1].first_position == 0 and program("roberta")[1].first_position == 2
    assert program("bert")[1].reads_types and program("distilbert")[1].types is None


def test_families_without_a_table_of_positions_state_the_longest_text():
    model, found = program("roformer")
    assert found.positions is None and found.longest == model.network.config.max_position_embeddings and found.types
    _, found = program("llama")
    assert found.positions is None and 1 < found.longest <= MOST_POSITIONS


def test_xlm_has_learned_positions_and_a_norm():
    _, found = program("xlm")
    assert found.embedded is not None and found.positions is not None and found.first_position == 0


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_programs_with_positions_leave_out_the_longest_text(family):
    """Older versions reject keys that they do not know."""
    assert "longest" not in program(family)[1].model_dump(mode="json", exclude_none=True)

"""For contracts: the tables of tiny models are trained the way that large ones are."""

from collections.abc import Iterator

import pytest

from niwaki.train import row_gradients


@pytest.fixture(scope="package", autouse=True)
def _large_tables() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_gradients, "LARGE", 1)
        yield

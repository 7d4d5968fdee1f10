"""Test sets in several languages for a model that is trained in one: the main test set is in English, each other language is a
further test set, named by its code."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyarrow import compute

from niwaki.core.errors import InputError, did_you_mean
from niwaki.core.settings import setting
from niwaki.tasks._data_settings import DataSettings

TRAINED = "en"


class TestLanguages(DataSettings):
    """The setting of tasks that are scored in several languages."""

    __test__ = False  # no test class, whatever its name

    languages: list[str] = setting(
        [], 'languages of the further test sets, e.g. ["de", "fr"]; none takes all that there are'
    )

    def test_sets(self, found: Mapping[str, pa.Table], source: object) -> dict[str, pa.Table]:
        """`test` in English, then the languages that the setting names."""
        missing = [language for language in self.languages if language not in found]
        if missing:
            raise InputError(
                f"data.languages: {source} has no test rows in '{missing[0]}'{did_you_mean(missing[0], list(found))}; "
                f"there is: {', '.join(sorted(found))}"
            )
        wanted = self.languages or sorted(found)
        further = {language: found[language] for language in wanted if language != TRAINED}
        return {"test": found[TRAINED], **further}


def by_language(table: pa.Table, roles: Mapping[str, str], shared: Sequence[str]) -> dict[str, pa.Table]:
    """Language → rows with the columns `roles` and `shared`. `premise_` of roles is the beginning of a column in each language."""
    first = next(iter(roles.values()))
    languages = [name.removeprefix(first) for name in table.column_names if name.startswith(first)]
    return {
        language: table.select([*(f"{start}{language}" for start in roles.values()), *shared]).rename_columns(
            [*roles, *shared]
        )
        for language in languages
        if all(f"{start}{language}" in table.column_names for start in roles.values())
    }


def of_value(table: pa.Table, column: str) -> dict[str, pa.Table]:
    """The rows of each value of a column, without that column."""
    column_values = table.column(column)
    return {
        str(value): table.filter(compute.equal(column_values, value)).drop_columns([column])
        for value in compute.unique(column_values).to_pylist()
        if value is not None
    }

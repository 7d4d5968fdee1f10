"""WordNet's two forms, and inventories that are none."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from niwaki.core.errors import InputError
from niwaki.data import wordnet

LICENCE = "  1 This software and database is being provided to you, the LICENSEE\n"
INDEX = "bank%1:14:00:: 00000200 2 20\nbank%1:17:01:: 00000100 1 25\nbank%2:35:00:: 00000300 1 0\nlow%5:00:00:deep:00 00000400 1 3\nslope%1:17:00:: 00000050 1 1\n"
DATA = {
    "noun": "00000050 17 n 02 slope 0 incline 0 000 | an elevated geological formation\n"
    '00000100 17 n 01 bank 1 001 @ 00000050 n 0000 | sloping land; "they sat on the bank"  \n'
    "00000200 14 n 0a bank 0 depository 0 c 0 d 0 e 0 f 0 g 0 h 0 i 0 j 0 002 ~ 00000100 n 0000 @i 00000050 n 0000 | an institution | that lends\n",
    "verb": "00000300 35 v 01 bank 0 000 01 + 08 00 | tip laterally\n",
    "adj": "00000400 00 s 01 low(p) 0 000 | less than normal\n",
    "adv": LICENCE,
}


@pytest.fixture
def dict_folder(tmp_path):
    (tmp_path / "index.sense").write_text(INDEX)
    for pos, text in DATA.items():
        (tmp_path / f"data.{pos}").write_text(LICENCE + text)
    (tmp_path / "noun.exc").write_text("geese goose\nmen man\n")
    return tmp_path


def test_the_dict_files_are_read(dict_folder):
    found = wordnet.read_wordnet(dict_folder)
    assert found.senses.to_pylist()[0] == {
        "sense_key": "bank%1:14:00::",
        "lemma": "bank",
        "pos": "noun",
        "synset": "00000200-n",
        "sense_number": 2,
        "tag_count": 20,
    }
    assert found.senses.column("synset").to_pylist()[3] == "00000400-s"
    slope, bank, institution, tip, low = found.synsets.to_pylist()
    assert slope["lemmas"] == ["slope", "incline"] and slope["hypernyms"] == []
    assert bank == {
        "synset": "00000100-n",
        "lexfile": 17,
        "lemmas": ["bank"],
        "gloss": 'sloping land; "they sat on the bank"',
        "hypernyms": ["00000050-n"],
    }
    assert len(institution["lemmas"]) == 10 and institution["hypernyms"] == ["00000050-n"]  # counted in hexadecimal
    assert institution["gloss"] == "an institution | that lends"
    assert (tip["synset"], low["lemmas"]) == ("00000300-v", ["low"])
    assert found.exceptions == {("geese", "noun"): "goose", ("men", "noun"): "man"}


def test_both_forms_say_the_same(dict_folder, tmp_path):
    found = wordnet.read_wordnet(dict_folder)
    other = tmp_path / "parquet"
    other.mkdir()
    parquet.write_table(found.senses, other / "senses.parquet")
    parquet.write_table(found.synsets, other / "synsets.parquet")
    again = wordnet.read_wordnet(other)
    assert again.senses.equals(found.senses) and again.synsets.equals(found.synsets) and again.exceptions == {}


@pytest.mark.parametrize("spelling", ["NOUN", "noun", "n", "1"])
def test_parts_of_speech_however_spelt(spelling):
    assert wordnet.pos_of(spelling) == "noun" and wordnet.pos_of("DET") is None


def test_lemmas_as_the_index_has_them():
    assert wordnet.lemma_of(" Grand Jury") == "grand_jury"


def changed(table, column, value):
    values = table.column(column).to_pylist()
    values[0] = value
    place = table.column_names.index(column)
    return table.set_column(place, column, pa.array(values, table.schema.field(column).type))


@pytest.mark.parametrize(
    ("of", "column", "value", "words"),
    [
        ("senses", "synset", "00000999-n", "belongs to synset '00000999-n', which is not among"),
        ("senses", "sense_key", "bank%2:35:00::", "the same sense_key is there twice"),
        ("senses", "pos", "article", "part of speech 'article' is not known"),
        ("senses", "lemma", None, "empty cells in 'lemma'"),
        ("synsets", "lexfile", 45, "must be a number from 0 to 44"),
        ("synsets", "lexfile", -1, "must be a number from 0 to 44"),
    ],
)
def test_an_inventory_with_dangling_references_is_rejected(dict_folder, tmp_path, of, column, value, words):
    found = wordnet.read_wordnet(dict_folder)
    tables = {"senses": found.senses, "synsets": found.synsets}
    tables[of] = changed(tables[of], column, value)
    for name, table in tables.items():
        parquet.write_table(table, tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=words):
        wordnet.read_wordnet(tmp_path)


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(InputError, match=r"has neither senses\.parquet"):
        wordnet.read_wordnet(tmp_path)
    with pytest.raises(InputError, match="is no folder with an inventory"):
        wordnet.read_wordnet(tmp_path / "nowhere")
    parquet.write_table(pa.table({"lemma": ["a"]}), tmp_path / "senses.parquet")
    with pytest.raises(InputError, match="has no column 'sense_key'"):
        wordnet.read_wordnet(tmp_path)


@pytest.mark.parametrize(
    ("name", "line"),
    [("index.sense", "bank%1:14:00:: x 2 20\n"), ("data.noun", "00000050 17 n zz\n"), ("index.sense", "bank 1 2 3\n")],
)
def test_a_line_that_is_none_is_named(dict_folder, name, line):
    (dict_folder / name).write_text(LICENCE + line)
    with pytest.raises(InputError, match=f"{name}: line 2 is none of"):
        wordnet.read_wordnet(dict_folder)

"""Settings of tasks on word senses."""

from niwaki.core.settings import setting
from niwaki.tasks._data_settings import DataSettings


class SenseSettings(DataSettings):
    tokens: str = setting("", "column that holds the words of a sentence, as a list; none guesses")
    lemmas: str = setting("", "column that holds their lemmas; none guesses")
    pos: str = setting("", "column that holds their parts of speech; none guesses")
    senses: str = setting("", "column that holds the right sense keys of each word, a list or nothing; none guesses")
    inventory: str = setting(
        "", "folder of WordNet (parquet, or its dict files); none looks for 'wordnet30' next to the rows"
    )
    glosses: str = setting("minilm", "encoder that reads the glosses: a name, folder or hub id; 'words' takes TF-IDF")
    dimensions: int = setting(128, "numbers that a gloss is reduced to", ge=2, le=4096)
    examples: bool = setting(False, "whether the sentences in the inventory's glosses are train rows too")
    definitions: bool = setting(False, "whether definitions of senses other than a lemma's first are train rows too")
    hypernyms: float = setting(0.0, "share of the gloss of the synset above that is mixed in", ge=0, le=10)
    without_prior: float = setting(
        1.0, "weight of the loss of the scores without the senses' frequencies", ge=0, le=100
    )
    balance: float = setting(
        0.0, "how far words with rare senses weigh more in the loss: (share of the sense)^-balance", ge=0, le=1
    )

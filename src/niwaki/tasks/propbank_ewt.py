"""PropBank over the English Web Treebank (Silveira et al. 2014; Bonial et al. 2014): roles in web text, of verbs, nouns and adjectives."""

from typing import ClassVar

from niwaki.tasks._declarations import Published
from niwaki.tasks.roles import Roles


class PropbankEwt(Roles):
    published: ClassVar[Published] = Published("propbank_ewt")
    description: ClassVar[str] = "predicates, their senses and who does what, in English web text"

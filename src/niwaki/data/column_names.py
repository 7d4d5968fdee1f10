"""Names that columns usually have. Case, spaces, hyphens and underscores do not matter."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from niwaki.core.errors import InputError

FIRST_TEXT = {"text"}  # this one is the text whatever else is there
TEXTS = {
    "sentence",
    "review",
    "reviewtext",
    "reviewbody",
    "content",
    "body",
    "comment",
    "commenttext",
    "message",
    "utterance",
    "query",
    "document",
    "abstract",
    "tweet",
    "post",
    "article",
    "passage",
    "paragraph",
    "description",
    "question",
    "prompt",
    "input",
    "inputs",
    "snippet",
    "phrase",
    "statement",
    "headline",
    "feedback",
    "email",
    "transcript",
    "fulltext",
    "sms",
}
PAIRS = [
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question", "sentence"),
    ("question1", "question2"),
    ("texta", "textb"),
    ("text1", "text2"),
    ("text", "second"),
    ("firsttext", "secondtext"),
    ("text", "secondtext"),
    ("query", "passage"),
    ("question", "passage"),
    ("query", "document"),
    ("sentencea", "sentenceb"),
    ("sent1", "sent2"),
    ("s1", "s2"),
    ("claim", "evidence"),
    ("question", "context"),
    ("questiona", "questionb"),
    ("input1", "input2"),
    ("query1", "query2"),
    ("phrase1", "phrase2"),
]
FIRST_LABEL = {"label", "labels", "goldlabel"}
LABELS = {
    "target",
    "targets",
    "class",
    "classes",
    "category",
    "categories",
    "sentiment",
    "intent",
    "topic",
    "topics",
    "gold",
    "y",
    "score",
    "rating",
    "stars",
    "similarity",
    "similarityscore",
    "relatednessscore",
    "emotion",
    "emotions",
    "polarity",
    "isduplicate",
    "paraphrase",
    "entailment",
    "toxic",
    "spam",
    "genre",
    "genres",
    "tag",
    "tags",
    "type",
    "outcome",
    "stance",
    "domain",
    "department",
    "priority",
    "entailmentlabel",
    "entailmentjudgment",
    "classindex",
    "classid",
    "labelid",
    "categoryid",
    "answerkey",
}
SEQ2SEQ_PAIRS = [
    ("source", "target"),
    ("src", "tgt"),
    ("src", "trg"),
    ("input", "output"),
    ("source", "translation"),
    ("text", "translation"),
    ("sentence", "translation"),
    ("sentence", "logicalform"),
    ("utterance", "logicalform"),
    ("question", "sql"),
    ("command", "actions"),
    ("sentence", "formula"),
    ("document", "summary"),
    ("article", "summary"),
    ("text", "summary"),
]
TOKENS = {"tokens", "words", "token", "word"}
PROPOSITIONS = {
    "predicates": {"predicates"},
    "rolesets": {"rolesets", "senses", "frames"},
    "args": {"args", "arguments", "roles"},
}
NO_TAGS = {"lemmas", "lemma", "instanceids", "head", "heads", "offsets"}  # go with tokens, and are no kinds of them
LEMMAS, POS, SENSES = {"lemmas", "lemma"}, {"pos", "upos", "postags"}, {"sensekeys", "senses", "sensekey", "sense"}
QUESTIONS, CONTEXTS, ANSWERS = (
    {"question", "query"},
    {"context", "passage", "paragraph", "document"},
    {"answers", "answer"},
)
STARTS = [
    "startphrase",
    "ctx",
    "context",
    "premise",
    "question",
    "goal",
    "prompt",
    "stem",
    "sentence",
    "text",
    "article",
    "passage",
    "sent1",
]
WHOLE_STARTS = {"startphrase", "ctx"}  # contain what other columns contain in parts
ENDINGS = {"endings", "choices", "options", "candidates", "alternatives", "answers"}
ENDING = re.compile(r"(ending|choice|option|answer|alternative|candidate|solution|sol)s?(\d+|[a-j])")
METADATA = {
    "id",
    "ids",
    "idx",
    "index",
    "uid",
    "uuid",
    "guid",
    "pairid",
    "promptid",
    "docid",
    "textid",
    "rowid",
    "sentid",
    "sentenceid",
    "unnamed",
    "unnamed0",
    "",
    "split",
    "fold",
    "part",
    "lang",
    "language",
    "locale",
    "origin",
    "source",
    "url",
    "link",
    "date",
    "time",
    "timestamp",
    "datetime",
    "createdat",
    "user",
    "username",
    "userid",
    "author",
    "qid1",
    "qid2",
    "videoid",
}


def normalize(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())


def known(columns: Iterable[str], first: Iterable[str], others: Iterable[str] = ()) -> list[str]:
    """The columns that bear a known name: those of the first rank, where there are any."""
    columns = list(columns)
    return [name for name in columns if normalize(name) in first] or [
        name for name in columns if normalize(name) in others
    ]


def pairs(columns: Iterable[str]) -> list[tuple[str, str]]:
    """Columns that are known to go together; where there are none, those that share an ending too (premise_de,
    hypothesis_de)."""
    by_plain = {normalize(name): name for name in columns}
    exact = [(by_plain[one], by_plain[two]) for one, two in PAIRS if one in by_plain and two in by_plain]
    if exact:
        return exact
    found = {}
    for one, two in PAIRS:
        for short, name in by_plain.items():
            rest = short.removeprefix(one)
            if short.startswith(one) and len(rest) in (2, 3) and two + rest in by_plain:
                found[name] = by_plain[two + rest]
    return list(found.items())


def texts(columns: Iterable[str]) -> list[list[str]]:
    """Candidate input columns: the two of a known pair, those with the name of a text, or the only one."""
    columns = list(columns)
    by_plain = {normalize(name): name for name in columns}
    for one, two in PAIRS:
        if one in by_plain and two in by_plain:
            return [[by_plain[one], by_plain[two]]]
    return [[name] for name in (columns if len(columns) == 1 else known(columns, FIRST_TEXT, TEXTS))]


def only_choice(readings: Sequence[list[Any]], path: Path, columns: Iterable[str], fix: str) -> list[Any]:
    """The only candidate; InputError if there are several, or none."""
    if len(readings) != 1:
        raise InputError(f"{path}: which column holds the texts is not clear (there is: {', '.join(columns)}); {fix}")
    return readings[0]


def endings(columns: Iterable[str]) -> list[str]:
    """Two or more columns ending0, ending1, … or option_a, option_b, …, in their order."""
    stems: dict[str, list[tuple[int, str, str]]] = {}
    for name in columns:
        match = ENDING.fullmatch(normalize(name))
        if match:
            stems.setdefault(match[1], []).append((len(match[2]), match[2], name))
    rows = [[name for *_, name in sorted(found)] for found in stems.values() if len(found) > 1]
    return rows[0] if len(rows) == 1 else []


def is_metadata(name: str) -> bool:
    """Whether a column tells rows apart or says where they are from, by its name."""
    short = normalize(name)
    return (
        short in METADATA
        or bool(re.search(r"(^|[\s_.-])(id|idx|index|lang|language|locale|split|fold|dataset)$", name.lower()))
        or short.startswith("unnamed")
    )

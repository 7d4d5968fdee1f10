"""Owners of well-known models on the Hugging Face hub. Older texts name these models without an owner (`bert-base-uncased`), and the
hub redirects such names; niwaki takes only `owner/name`, so messages name the owner. Needs no network."""

OWNERS = {
    "bert-": "google-bert",
    "roberta-": "FacebookAI",
    "xlm-roberta-": "FacebookAI",
    "distilbert-": "distilbert",
    "distilroberta-": "distilbert",
    "albert-": "albert",
    "t5-": "google-t5",
    "electra-": "google",
    "mobilebert-": "google",
    "deberta-": "microsoft",
    "mdeberta-": "microsoft",
    "mpnet-": "microsoft",
    "minilm-": "microsoft",
    "xtremedistil-": "microsoft",
    "bart-": "facebook",
    "camembert-": "almanach",
    "modernbert-": "answerdotai",
    "opus-mt-": "Helsinki-NLP",
    "all-": "sentence-transformers",
    "paraphrase-": "sentence-transformers",
    "multi-qa-": "sentence-transformers",
    "msmarco-": "sentence-transformers",
    "bge-": "BAAI",
    "e5-": "intfloat",
    "multilingual-e5-": "intfloat",
}  # how names begin, in small letters → owner


def with_owner(name: str) -> str:
    """`google-bert/bert-base-uncased` of `bert-base-uncased`; nothing for names that are not known, or have an owner."""
    owner = next((owner for start, owner in OWNERS.items() if name.lower().startswith(start)), "")
    return f"{owner}/{name}" if owner and "/" not in name else ""

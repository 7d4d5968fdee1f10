"""Small files laid out as the published sets of formulas are."""

FORMULAS = {
    "atis": (["train", "dev", "test"], {}),
    "cogs": (["train", "dev", "test", "gen"], {"category": "cp_recursion"}),
    "geoquery": (["geoquery"], {}),
    "scan": (["simple-train", "simple-test"], {}),
}  # named tasks with files of their own: these, and columns that all rows have


def written(name, sentences):
    """A few texts and their formulas, under the names of the task."""
    for number, words in enumerate(sentences):
        text, one, other = " ".join(words), words[0], words[-1]
        yield {
            "atis": {"utterance": text, "logical_form": f"( {one} $0 ( {other} $0 ) )"},
            "cogs": {"sentence": text, "logical_form": f"{one} . agent ( x _ {number % 9} , Emma )"},
            "geoquery": {
                "question_split": ("train", "dev", "test")[number % 3],
                "en": text,
                "funql": f"answer({one}({other}(all)))",
            },
            "scan": {"command": text, "actions": f"I_{one.upper()} I_{other.upper()}"},
        }[name]

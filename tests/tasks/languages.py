"""Small files laid out as the published sets in several languages are."""

from tasks.rows import TEXTS, folder


def wide(start, count, columns, label, **changes):
    """A row for each number, with each column in English and German."""
    return [
        {
            f"{column}_{language}": f"{TEXTS[(start + n) % 80]} {column} {language} {start + n}"
            for column in columns
            for language in ("en", "de")
        }
        | {"label": label(n)}
        | changes
        for n in range(count)
    ]


def write(home, name, forms):
    """A folder as the task reads it, from rows as other tasks of its form read them. The folder's parent is the path of the task."""
    labelled = forms["classification"]
    if name == "xnli":
        names = ("entailment", "neutral", "contradiction")
        parts = {
            part: wide(start, 30, ("premise", "hypothesis"), lambda n: names[n % 3])
            for part, start in (("dev", 100), ("test", 200))
        }
        train = [{"premise": row["text"], "hypothesis": f"no {n}", "label": n % 3} for n, row in enumerate(labelled)]
        return folder(home / "xnli", train=train, **parts)
    if name == "pawsx":
        parts = {
            part: wide(start, 40, ("sentence1", "sentence2"), lambda n: n % 2)
            for part, start in (("dev", 100), ("test", 200))
        }
        return folder(home / "pawsx", **parts)
    if name == "panx":
        return folder(home / "panx", **dict.fromkeys(("en-train", "en-dev", "de-dev"), forms["tagging"]))
    if name == "xquad":
        questions = forms["question_answering"]
        folder(home / "squad", train=questions[:-20], validation=questions[-20:])
        return folder(home / "xquad_12lang", **{"validation.en": questions[-20:], "validation.de": questions[-20:]})
    rows = [{"tokens": row["tokens"], "slots": row["tags"]} for row in forms["tagging"]]
    every = [
        {"lang": language, "split": split, **row}
        for language, split in (("en", "valid"), ("en", "test"), ("de", "test"))
        for row in rows
    ]
    return folder(home / "xsid", xsid=every)

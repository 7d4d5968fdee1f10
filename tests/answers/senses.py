"""A small sense inventory: keys, and the lemmas with their senses."""

# lemma, part of speech, number, how often seen, lexicographer file
INVENTORY = [
    ("bank", "verb", 1, 0, 35),
    ("bank", "noun", 2, 20, 14),
    ("bank", "noun", 1, 25, 17),
    ("grand_jury", "noun", 1, 4, 14),
    ("jury", "noun", 1, 9, 14),
    ("sit", "verb", 1, 30, 35),
    ("leaf", "noun", 1, 9, 20),
    ("leave", "verb", 1, 9, 38),
    ("leave", "noun", 1, 2, 28),
    ("sit_up", "verb", 1, 2, 35),
    ("low", "adj", 1, 5, 0),
]


DIGIT = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


def key(lemma, pos, number):
    return f"{lemma}%{DIGIT[pos]}:{number:02d}:00::"


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder

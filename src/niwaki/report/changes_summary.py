"""What a comparison found, as a few lines of text."""

from niwaki.core.json_types import Json
from niwaki.report import changes_words as words
from niwaki.report.run_files import clean, mapping

MOST_GROUPS = 3


def summary(facts: Json) -> list[str]:
    facts = mapping(clean(facts))
    found = facts["churn"]
    lines = [
        f"A {facts['models']['a']['name']}, B {facts['models']['b']['name']}, {facts['task']['rows']} rows",
        f"churn       {words.share(found['changed'])}",
        *(f"  {kind:<10}{words.share(found[kind])}" for kind in ("broken", "fixed", "neither")),
        words.lead(facts),
    ]
    losing = [row for row in facts["groups"] if row["verdict"] == "loss"][1 : MOST_GROUPS + 1]
    lines += [f"  {words.group_name(row)}: {words.points(-row['loss'])} points ({row['rows']} rows)" for row in losing]
    if facts["pie"]:
        lines.append(f"PIE         {words.share(facts['pie']['share'])}. {words.overlap_words(facts['pie'])}")
    if facts["calibration"]:
        both = [facts["calibration"][side] for side in ("a", "b")]
        lines.append(
            "ECE         "
            + ", ".join(f"{name} {words.percent(one['before']['ece'])}" for name, one in zip("AB", both, strict=True))
        )
    return [*lines, *stage_lines(facts)]


def stage_lines(facts: Json) -> list[str]:
    if not facts["stages"]:
        return []
    rows = facts["stages"][1:]
    return [f"stage {row['name']:<14} churn {words.share(row['churn']['changed'])}" for row in rows]

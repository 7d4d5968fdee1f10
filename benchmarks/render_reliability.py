"""Renders the page on reliability: one row per guarantee."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import records
import render_recommendations
from results_page import Page, Section

HEAD = ["| guarantee | command | result | date, commit |", "|---|---|---|---|"]
OUTCOMES = {"named": "reported", "silent": "silently changed"}  # stored outcomes to labels
CRASHES = {"recipe": "recipe", "blueprint": "blueprint", "config": "config", "predict": "text to predict"}
Record = dict[str, Any]


def guarantees(rows: list[Record]) -> str:
    """One row per guarantee, each from the newest record of its own file."""
    about = "`python benchmarks/reliability.py` runs kills, corruptions, native shapes, rejections and verification in sequence. [Reliability](../reliability.md) explains the guarantees."
    return "\n".join([about, "", *HEAD, *(line(*row) for row in ROWS)])


def line(
    guarantee: str, command: str, name: str, accepts: Callable[[Record], bool], summarize: Callable[[Record], str]
) -> str:
    found = [record for record in records.read(name) if accepts(record)]
    if not found:
        return f"| {guarantee} | `{command}` | not measured yet | |"
    newest = found[-1]
    return f"| {guarantee} | `{command}` | {summarize(newest)} | {newest['time'][:10]}, {newest['commit']} |"


def kills(record: Record) -> str:
    where = ", ".join(f"{count} {place}" for place, count in sorted(record["places"].items()))
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in record["outcomes"].items())
    return (
        f"{record['kills']} kills in {record['runs']} runs ({where}): {len(record['differing'])} files differ, {record['repeated_stages']} finished stages "
        f"repeated, {len(record['ledger'])} faults in ledgers of {record['attempts']} attempts ({outcomes})"
    )


def endings(tally: dict[str, int]) -> str:
    """Number of corruptions by outcome, from counts by place, kind and outcome."""
    ends = Counter()
    for key, count in tally.items():
        ends[key.rpartition(" ")[2]] += count
    return ", ".join(f"{count} {OUTCOMES.get(end, end)}" for end, count in sorted(ends.items()))


def read_by_commands(record: Record) -> str:
    read, hit = record["read"], Counter()
    for key, count in record["read"]["tally"].items():
        hit[key.partition(", ")[0]] += count
    where = ", ".join(f"{kind} {count}" for kind, count in hit.items())
    return (
        f"{read['corruptions']} corruptions ({where}) read by load, predict, eval and report: {endings(read['tally'])}; "
        f"{len(read['silent'])} silent changes"
    )


def corruptions(record: Record) -> str:
    return (
        f"{record['corruptions']} corruptions: {endings(record['tally'])}; {record['false_alarms']} false alarms in {record['clean_loads']} clean loads; {record['whole_runs']} runs with "
        f"{record['damaged_at_once']} damaged files each ended with {len(record['differing'])} differences"
    )


def faults(record: Record) -> str:
    tried = sum(sum(ends.values()) for ends in record["ends"].values())
    failed = sum(ends["failed"] for ends in record["ends"].values())
    disk = record["full_disk"]
    return (
        f"{tried} faults ({', '.join(record['errors'])}), {failed} interrupted the save: {len(record['wrong'])} cases of lost data or wrong messages; "
        f"a disk filled {disk['filled']} times during a run: exit codes {disk['exit_codes']}, {len(disk['differing'])} differences after resuming"
    )


def fuzz(record: Record) -> str:
    return (
        f"{record['executions']:,} inputs in {record['cpu_minutes']:.1f} CPU minutes ({record['minutes']:.0f} min), {record['first_edges']} to {record['edges']} "
        f"branches: {len(record['findings'])} findings, slowest {record['slowest_cpu_seconds']:.2f} s"
    )


def untrusted_files(record: Record) -> str:
    """Time and memory beyond those of the same command on valid files; in brackets those of the whole process."""
    rejected = record["files"] - len(record["not_as_promised"])
    return (
        f"{rejected} of {record['files']} files in {record['families']} groups rejected in one line with exit code 3, at most {record['most_seconds']:.2f} s and "
        f"{record['most_megabytes']:.0f} MB more than for valid files (whole processes {record['most_whole_seconds']:.1f} s, {record['most_whole_megabytes']:.0f} MB; "
        f"limit: {record['asked_seconds']:.0f} s, {record['asked_megabytes']} MB); {record['made']} created a file, process or socket"
    )


def rejections(record: Record) -> str:
    return (
        f"{record['as_promised']} of {record['attempts']} processes ({len(record['cases'])} cases, files of {record['unpacked_megabytes']:.0f} MB before gzip) ended with exit "
        f"code 3 and one line, {record['signals']} cases ended by a signal, slowest {record['most_seconds']:.1f} s"
    )


def saving(record: Record) -> str:
    shares = {
        what: [value / (record["default_seconds"] + value) for value in record[what]["each"]]
        for what in ("processor", "clock")
    }
    summary = {
        what: f"{record[what]['share']:.1%} ({min(found):.1%} to {max(found):.1%})" for what, found in shares.items()
    }
    others = f"; other processes used {record['others']:.0%} of the machine" if record["others"] > 0.1 else ""
    return (
        f"one save of {record['state_bytes'] / 1e6:.0f} MB every {record['default_seconds']:.0f} s, {record['saves']} measured: {summary['processor']} of the CPU time, "
        f"{summary['clock']} of the wall time (target: under {record['asked']:.0%}){others}"
    )


def native_shapes(record: Record) -> str:
    skipped = f" ({', '.join(record['not_run_here'])} not available)" if record["not_run_here"] else ""
    return (
        f"{record['shapes']:,} random shapes × {record['histories']} call histories × {len(record['kernels'])} sets of kernels{skipped}: {len(record['faults'])} faults in "
        f"{record['calls']:,} calls; {1 - record['far_share']:.2%} of texts within {record['near']:g} of torch, the largest difference {record['farthest']:.2g} of the largest logit"
    )


def verifying(record: Record) -> str:
    sizes = ", ".join(
        f"{one['megabytes']} MB in {one['seconds'] * 1000:.0f} ms ({one['low'] * 1000:.0f} to {one['high'] * 1000:.0f})"
        for one in record["sizes"]
    )
    load = record["load"]
    return f"{sizes}; loading MiniLM ({load['megabytes']:.0f} MB) in ONNX Runtime: {load['verified']:.2f} s, {load['unverified']:.2f} s without verification"


def recommendations(record: Record) -> str:
    return render_recommendations.guarantee(records.read("recommendations"))


def any_record(record: Record) -> bool:
    return True


ROWS = (
    (
        "`kill -9` at any moment changes no result",
        "python benchmarks/kills.py",
        "kills",
        lambda record: "places" in record,
        kills,
    ),
    (
        "a damaged run or model never changes an answer silently",
        "python benchmarks/corruptions.py",
        "corruptions",
        lambda record: "read" in record,
        read_by_commands,
    ),
    ("`niwaki run` recovers from damage", "python benchmarks/corruptions.py", "corruptions", any_record, corruptions),
    ("a failing disk loses no saved data", "python benchmarks/faults.py", "faults", any_record, faults),
    ("a malicious file is rejected", "python benchmarks/untrusted_files.py", "hostile", any_record, untrusted_files),
    ("a large invalid data file is rejected", "python benchmarks/rejections.py", "rejections", any_record, rejections),
    *(
        (
            f"no {CRASHES[target]} crashes niwaki",
            f"python benchmarks/fuzz.py {target} --minutes 15",
            "fuzz",
            lambda record, target=target: record["target"] == target and record["cpu_minutes"] >= 15,
            fuzz,
        )
        for target in CRASHES
    ),
    (
        "an answer of the native engine depends only on its text",
        "python benchmarks/native_shapes.py",
        "native_shapes",
        lambda record: record["shapes"] >= 1000,
        native_shapes,
    ),
    (
        "the recommendation follows the documented rule",
        "python benchmarks/recommendations.py QUESTIONS",
        "recommendations",
        any_record,
        recommendations,
    ),
    ("saving checkpoints is cheap", "python benchmarks/saving.py", "saving", any_record, saving),
    (
        "verifying a model on loading is cheap",
        "python benchmarks/verifying.py",
        "verifying",
        any_record,
        verifying,
    ),
)


def headline() -> str:
    kills_, damage = (
        next(row for row in reversed(records.read(name)) if key in row)
        for name, key in (("kills", "places"), ("corruptions", "read"))
    )
    return f"{kills_['kills']} kills with SIGKILL changed {len(kills_['differing'])} files; {damage['read']['corruptions']} corruptions caused {len(damage['read']['silent'])} silent changes."


PAGE = Page(
    "reliability",
    "Reliability",
    "Energy and reliability",
    headline,
    (Section("kills", "Guarantees", guarantees, footer=lambda row: ""),),
)

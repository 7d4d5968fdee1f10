"""Renders the page on training in several processes."""

import statistics
from typing import Any

import records
from cost_model import CORES, DAY, NETWORKS, SENTENCES, estimates
from results_page import Page, Section


def median(laps: list[dict[str, Any]], key: str) -> float:
    return statistics.median(one[key] for one in laps)


def speed(rows: list[dict[str, Any]]) -> str:
    found = rows[-1]["contenders"]
    alone = median(found["one process"], "rate")
    lines = [
        "Command: `python benchmarks/distributed.py`. MiniLM-L6 fine-tuned on the bundled reviews, all parameters, batches of 32, one thread in each process. Two processes send and add "
        f"the gradients of {found['one process'][0]['parameters'] / 1e6:.1f} million parameters in every step. Seconds are those of the processor, of all processes: what the work costs. "
        f"How long processes wait for each other is not in them. Medians of {len(found['one process'])} laps in turns.",
        "",
        "| | tokens per processor second | of one process | exchange, share | memory of a process, MB |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {median(laps, 'rate'):,.0f} | {median(laps, 'rate') / alone:.2f}× | {median(laps, 'exchange_share'):.0%} | {median(laps, 'memory_mb'):,.0f} |"
            for name, laps in found.items()
        ),
    ]
    return "\n".join(lines)


def costs(rows: list[dict[str, Any]]) -> str:
    from niwaki.meter.readers.vcpu import watts_of

    last = rows[-1]
    watts = watts_of(last["machine"])
    power = watts["max"] * CORES
    lines = [
        "**This is a model, not a measurement.** It multiplies constants that were measured for seconds on one core, as `benchmarks/cost_model.py` says; nothing here "
        "ran on more than one machine.",
        "",
        f"Distilling BERT-base ({last['teacher_parameters'] / 1e6:.0f} million parameters) into a student with half its layers ({last['student_parameters'] / 1e6:.0f} million) on "
        f"{SENTENCES:,} sentences of {last['tokens_per_sentence']:.1f} tokens, once. Measured on one core (`python benchmarks/distributed.py --constants`): "
        f"teacher {last['teacher_tokens_per_second']:,.0f} tokens/s, training step of the student {last['student_tokens_per_second']:,.0f} tokens/s, batches of "
        f"{last['batch_sentences']} sentences for each core; a core exchanges {last['exchange_bytes_per_cpu_second'] / 1e9:.2f} GB of gradients in a second of its time. "
        f"Assumed: the network, and machines with {CORES} vCPUs of this kind that draw {power:.0f} W ({watts['platform']}, [full load](../measuring.md)).",
        "",
        "| machines | "
        + " | ".join(f"days, {name}" for name in NETWORKS)
        + " | computing, share at 10 Gbit/s | kWh at 10 Gbit/s |",
        "|---" * (3 + len(NETWORKS)) + "|",
    ]
    columns = {name: estimates(last, speed, power) for name, speed in NETWORKS.items()}
    for place, one in enumerate(columns["10 Gbit/s"]):
        days = " | ".join(f"{found[place].seconds / DAY:,.2f}" for found in columns.values())
        lines.append(f"| {one.machines} | {days} | {one.efficiency:.0%} | {one.kwh:,.0f} |")
    return "\n".join(lines)


def headline() -> str:
    found = records.read("distributed")[-1]["contenders"]
    ratio = median(found["two processes, two micro-shards"], "rate") / median(found["one process"], "rate")
    return (
        f"Two processes train {ratio:.2f}× as many tokens per processor second as one, exchange of all gradients included, and end with the same bits as one process that adds "
        "the same micro-shards."
    )


PAGE = Page(
    "distributed",
    "Several processes",
    "Speed",
    headline,
    (
        Section("distributed", "What two processes cost", speed),
        Section("distributed_constants", "Cost model: a billion sentences on 1 to 64 machines", costs),
    ),
)

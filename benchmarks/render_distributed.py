"""Renders the page on training in several processes."""

from typing import Any

import records
from cost_model import DAY, NETWORKS, SENTENCES, estimates
from results_page import Page, Section


def speed(rows: list[dict[str, Any]]) -> str:
    last = rows[-1]
    found = last["contenders"]
    alone = next(iter(found.values()))
    lines = [
        "Command: `quiet python benchmarks/distributed.py`. MiniLM-L6 fine-tuned on the bundled reviews, all parameters, batches of 32. Every step sends and adds "
        f"the gradients of {alone['parameters'] / 1e6:.1f} million parameters. Medians of {len(alone['laps'])} laps in turns. More processes on the same cores are not "
        "meant to be faster: they show what exchanging gradients costs, and what two machines with one core each would have without a network.",
        "",
        "| | tokens/s | of one core | exchange, share of a step | memory of a process, MB |",
        "|---|---|---|---|---|",
        *(
            f"| {name} | {one['tokens_per_second']:,.0f} | {one['tokens_per_second'] / alone['tokens_per_second']:.2f}× | "
            f"{one['exchange_seconds'] / one['step_seconds']:.0%} | {one['memory_mb']:,.0f} |"
            for name, one in found.items()
        ),
    ]
    return "\n".join(lines)


def costs(rows: list[dict[str, Any]]) -> str:
    from niwaki.meter.readers.vcpu import watts_of

    last = rows[-1]
    watts = watts_of(last["machine"])
    power = watts["max"] * last["machine"]["vcpus"]
    lines = [
        "**This is a model, not a measurement.** It multiplies constants that were measured for seconds on one machine, as `benchmarks/cost_model.py` says; nothing here "
        "ran on more than one machine.",
        "",
        f"Distilling BERT-base ({last['teacher_parameters'] / 1e6:.0f} million parameters) into a student with half its layers ({last['student_parameters'] / 1e6:.0f} million) on "
        f"{SENTENCES:,} sentences of {last['tokens_per_sentence']:.1f} tokens, once, on machines like the one below. Measured (`python benchmarks/distributed.py --constants`): "
        f"teacher {last['teacher_tokens_per_second']:,.0f} tokens/s, training step of the student {last['student_tokens_per_second']:,.0f} tokens/s, batches of "
        f"{last['batch_sentences']} sentences for each machine; gradients are exchanged between two processes of one machine at {last['exchange_bytes_per_second'] / 1e9:.2f} GB/s. "
        f"Assumed: the network, and {power:.0f} W for each machine ({watts['platform']}, [full load](../measuring.md)).",
        "",
        "| machines | "
        + " | ".join(f"days, {name}" for name in NETWORKS)
        + " | computing, share at 10 Gbit/s | kWh at 10 Gbit/s |",
        "|---" * (3 + len(NETWORKS)) + "|",
    ]
    columns = {name: estimates(last, speed, power) for name, speed in NETWORKS.items()}
    for place, one in enumerate(columns["10 Gbit/s"]):
        days = " | ".join(f"{found[place].seconds / DAY:,.1f}" for found in columns.values())
        lines.append(f"| {one.machines} | {days} | {one.efficiency:.0%} | {one.kwh:,.0f} |")
    return "\n".join(lines)


def headline() -> str:
    found = records.read("distributed")[-1]["contenders"]
    two, one = list(found.values())[-1], list(found.values())[1]
    ratio = two["tokens_per_second"] / one["tokens_per_second"]
    return f"{two['processes']} processes with one core each train at {ratio:.2f}× the speed of one process with the same cores, and end with the same bits as one process."


PAGE = Page(
    "distributed",
    "Several processes",
    "Speed",
    headline,
    (
        Section("distributed", "Training in two processes on one machine", speed),
        Section("distributed_constants", "Cost model: a billion sentences on 1 to 64 machines", costs),
    ),
)

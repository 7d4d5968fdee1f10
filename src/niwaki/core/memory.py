"""Whether there is memory for what a file asks to be held, asked before any of it is taken."""

from pathlib import Path

from niwaki.core.errors import Refused


def available_bytes() -> int | None:
    """What the system can give without swapping; None where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    said = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(said[0]) * 1024 if said else None


def require_memory(need_bytes: int, what: str) -> None:
    there = available_bytes()
    if there is not None and need_bytes > there:
        raise Refused(f"{what} takes {need_bytes / 1e9:.1f} GB of memory and {there / 1e9:.1f} GB are free")

"""A window in which the machine did nothing else."""

from niwaki.meter.reader import Usage

ALL_OURS = Usage(seconds=1.0, cpu_seconds=1.0, vcpus=1, host_busy_seconds=1.0)

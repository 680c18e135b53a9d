"""Devices that code computes with."""

from pathlib import Path


def graphics() -> list[str]:
    """The graphics cards of this machine, as devices."""
    found = [*Path("/dev").glob("nvidia*"), Path("/dev/dri"), Path("/dev/kfd"), Path("/dev/dxg")]
    return [str(device) for device in sorted(found) if device.exists()]

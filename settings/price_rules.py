"""Prices: each for a generation and a kind of capacity that there are, and none below zero."""

from __future__ import annotations

import math
from collections.abc import Iterator

from settings.accelerators import MACHINE_TYPES
from settings.capacity import CAPACITIES
from settings.faults import Fault, did_you_mean, rule
from settings.model import Settings


@rule
def check(settings: Settings) -> Iterator[Fault]:
    generations = list(dict.fromkeys(machine.generation for machine in MACHINE_TYPES.values()))
    for generation, prices in settings.prices.chip_hour.items():
        path = f"prices.chipHour.{generation}"
        if generation not in generations:
            wanted = f"a generation of chips: {', '.join(generations)}"
            yield Fault(path, generation, wanted, did_you_mean(generation, generations, "remove the key"))
        for kind, price in prices.items():
            if kind not in CAPACITIES:
                wanted = f"a kind of capacity: {', '.join(CAPACITIES)}"
                yield Fault(f"{path}.{kind}", kind, wanted, did_you_mean(kind, CAPACITIES, "remove the key"))
            if not (math.isfinite(price) and price >= 0):
                wanted, remedy = "a price, 0 or more", "write what an hour of a chip costs, or remove the key"
                yield Fault(f"{path}.{kind}", price, wanted, remedy)

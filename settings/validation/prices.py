"""Prices: for known generations and kinds of capacity, none below zero."""

from __future__ import annotations

import math
from collections.abc import Iterator

from settings.catalogue.accelerators import MACHINE_TYPES
from settings.catalogue.capacity import CAPACITIES
from settings.schema.stack import Settings
from settings.validation.problem import Problem, did_you_mean


def check(settings: Settings) -> Iterator[Problem]:
    generations = list(dict.fromkeys(machine.generation for machine in MACHINE_TYPES.values()))
    for generation, prices in settings.prices.chip_hour.items():
        path = f"prices.chipHour.{generation}"
        if generation not in generations:
            expected = f"a generation of chips: {', '.join(generations)}"
            yield Problem(path, generation, expected, did_you_mean(generation, generations, "remove the key"))
        for kind, price in prices.items():
            if kind not in CAPACITIES:
                expected = f"a kind of capacity: {', '.join(CAPACITIES)}"
                yield Problem(f"{path}.{kind}", kind, expected, did_you_mean(kind, CAPACITIES, "remove the key"))
            if not (math.isfinite(price) and price >= 0):
                expected, fix = "a price, 0 or more", "write the price of a chip-hour, or remove the key"
                yield Problem(f"{path}.{kind}", price, expected, fix)

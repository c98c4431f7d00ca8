"""Kueue's feature gates: only those that the pinned version knows, with values that it accepts."""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.kueue_gates import ALL_OF_A_KIND, FREE, LOCKED
from settings.catalogue.versions import KUEUE_VERSION
from settings.schema.stack import Settings
from settings.validation.problem import Problem, did_you_mean


def check(settings: Settings) -> Iterator[Problem]:
    """With any other gate Kueue's manager exits at its start, and `up` would wait for it until the timeout."""
    known = (*FREE, *LOCKED, *ALL_OF_A_KIND)
    for name, on in settings.kueue.feature_gates.items():
        path = f"kueue.featureGates.{name}"
        if name not in known:
            expected = f"a feature gate of Kueue {KUEUE_VERSION}, which does not start with an unknown one"
            yield Problem(path, name, expected, did_you_mean(name, known, "remove the key"))
        elif LOCKED.get(name, on) != on:
            value = str(LOCKED[name]).lower()
            yield Problem(
                path,
                on,
                f"{value}: Kueue {KUEUE_VERSION} has locked this gate and does not start with another value",
                "remove the key",
            )

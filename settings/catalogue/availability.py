"""Which kinds of capacity a generation of TPUs can be had in: data, with what each entry rests on.

A pool of a kind that Google does not have of its generation is refused by GKE after minutes, or made and never filled. Where no page
of Google's says either, it is refused here too, since a stack can state what Google has added (`tpuCapacity`).
"""

from __future__ import annotations

from dataclasses import dataclass

from settings.catalogue.capacity import CapacityKind

ALL_VERSIONS = "Google's table of Cloud TPU consumption options has it for all versions"
SPOT = "GKE's page on TPUs has Spot VMs for TPUs, without an exception"
FLEX_PAGE = "Google's page on flex-start lends v5e and v6e"


@dataclass(frozen=True)
class Offer:
    """Whether a generation can be had in a kind of capacity: None where nobody says so. `source` says who does, or what they say
    of others."""

    there: bool | None
    source: str


def _generation(flex_start: Offer, queued: Offer, spot: Offer | None = None) -> dict[CapacityKind, Offer]:
    return {
        "on-demand": Offer(True, ALL_VERSIONS),
        "reservation": Offer(True, ALL_VERSIONS),
        "spot": spot if spot is not None else Offer(True, SPOT),
        "flex-start": flex_start,
        "queued": queued,
    }


_NOT_LENT = _generation(
    Offer(False, f"{FLEX_PAGE}, and its table of options 7x"),
    Offer(False, "queued provisioning lends flex-start capacity, which this generation does not have"),
)

OFFERS: dict[str, dict[CapacityKind, Offer]] = {
    "v3": _NOT_LENT,
    "v4": _NOT_LENT,
    "v5e": _generation(
        Offer(True, FLEX_PAGE),
        Offer(None, "no page names v5e; Google's cluster toolkit and tutorial have v6e and 7x"),
    ),
    "v5p": _NOT_LENT,
    "v6e": _generation(
        Offer(True, FLEX_PAGE),
        Offer(True, "Google's tutorial for Ray on TPU v6e with Kueue and DWS"),
    ),
    "7x": _generation(
        Offer(True, "Google's table of Cloud TPU consumption options, in us-central1-c"),
        Offer(True, "Google's cluster toolkit, its blueprint for tpu7x"),
    ),
}

INSTEAD: dict[CapacityKind, CapacityKind] = {"queued": "flex-start", "flex-start": "on-demand", "spot": "on-demand"}
"""What is nearest to a kind: also there only while a job needs it."""


def kinds_of(generation: str, added: dict[str, list[CapacityKind]]) -> list[CapacityKind]:
    """The kinds that a generation can be had in, those that a stack adds among them."""
    return [kind for kind, offer in OFFERS[generation].items() if offer.there or kind in added.get(generation, [])]


def nearest_kind(kind: CapacityKind, there: list[CapacityKind]) -> CapacityKind:
    """Of the kinds that a generation can be had in, the one that comes nearest to another."""
    while kind not in there and kind in INSTEAD:
        kind = INSTEAD[kind]
    return kind if kind in there else there[0]

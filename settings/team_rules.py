"""Teams: names and namespaces of their own, parts that are there to be had, and members who are people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.cohort_rules import lent, whole_slices
from settings.copies import copies, distinct, places
from settings.faults import MISSING, Fault, duplicates, listed, rule
from settings.model import Settings, SliceSection
from settings.queue_rules import namespace_of_system
from settings.shapes import chips_of
from settings.team_model import TeamSection

Entries = list[tuple[int, TeamSection]]

_SECURITY_GROUP = "gke-security-groups@"
_SYSTEM = "system:"
"""How Kubernetes' own users and groups begin: everybody, nobody in particular, or those who may do everything anyway."""
_ACCOUNTS = {
    "users": re.compile(r"system:serviceaccount:[^:]+:[^:]+"),
    "groups": re.compile(r"system:serviceaccounts:[^:]+"),
}
"""Those of them that are somebody's: one service account, and all of a namespace."""


@rule
def check(settings: Settings) -> Iterator[Fault]:
    entries = distinct(settings.teams)
    yield from copies("teams[{}]", settings.teams)
    yield from _names(entries, settings)
    yield from _namespaces(entries, settings)
    yield from _sums(settings)
    yield from _security_group(entries, settings)
    for index, team in entries:
        yield from _parts(f"teams[{index}]", team, settings)
        yield from _members(f"teams[{index}].members", team)


@rule
def _names(entries: Entries, settings: Settings) -> Iterator[Fault]:
    """A team's cluster queue has the team's name."""
    queues = places("queues[{}].clusterQueue", distinct(settings.queues), "cluster_queue")
    seen: dict[str, str] = {}
    for path, name in queues:
        seen.setdefault(name, path)
    for path, name in places("teams[{}].name", entries, "name"):
        if name in seen:
            wanted = f"a name of its own, as its cluster queue has it too: {seen[name]} is the same"
            yield Fault(path, name, wanted, "rename one")
        seen.setdefault(name, path)


@rule
def _namespaces(entries: Entries, settings: Settings) -> Iterator[Fault]:
    """A namespace is one team's. Two teams of one name have one fault, for that."""
    queues = places("queues[{}].namespace", distinct(settings.queues), "namespace")
    taken = [(path, name) for path, name in queues if name != "default"]
    names: list[str] = []
    for index, team in entries:
        stated = team.namespace is not None
        path = f"teams[{index}].namespace" if stated else f"teams[{index}].name"
        yield from namespace_of_system(path, team.home, "write a name of your own")
        if team.home == "default":
            wanted = "a namespace that is the team's alone: default is everybody's, and cannot be made or deleted"
            yield Fault(path, team.home, wanted, "write a name of your own")
        elif team.name not in names:
            yield from duplicates([*taken, (path, team.home)], "namespace", "rename one")
            taken.append((path, team.home))
        names.append(team.name)


@rule
def _security_group(entries: Entries, settings: Settings) -> Iterator[Fault]:
    """GKE asks Google for the groups of a user only inside of one group, whose name it prescribes."""
    if settings.cluster.existing:
        return
    group = settings.cluster.security_group
    members = [name for _, team in entries for name in team.members.groups if "@" in name]
    if group is None and members:
        like = f"{_SECURITY_GROUP}{members[0].rsplit('@', 1)[1]}"
        wanted = f"the group that holds {listed(members)}: GKE knows no other groups"
        yield Fault("cluster.securityGroup", MISSING, wanted, f"write {like}, or name users")
    elif group is not None and (not group.startswith(_SECURITY_GROUP) or group == _SECURITY_GROUP):
        wanted = f"{_SECURITY_GROUP}DOMAIN, the name that GKE prescribes"
        domain = group.rsplit("@", 1)[1] if "@" in group else ""
        yield Fault("cluster.securityGroup", group, wanted, f"write {_SECURITY_GROUP}{domain or 'example.com'}")


@rule
def _sums(settings: Settings) -> Iterator[Fault]:
    """One fault for a flavor of which the teams together have more than there is."""
    for section in settings.slices:
        yield from _sum(section, settings)


@rule
def _sum(section: SliceSection, settings: Settings) -> Iterator[Fault]:
    flavor, there = section.flavor, chips_of(section)
    having = [(index, team) for index, team in distinct(settings.teams) if flavor in team.flavors]
    total = sum(team.flavors[flavor].chips for _, team in having)
    if total > there:
        index, last = having[-1]
        others = [f"{team.name} {team.flavors[flavor].chips}" for _, team in having[:-1]]
        rest = there - (total - last.flavors[flavor].chips)
        beside = f"; {listed(others)} have the others" if others else ""
        wanted = f"at most {max(rest, 0)}: there are {there} chips of {flavor}{beside}"
        remedy = f"write {rest} or less" if rest >= 0 else "give the teams less"
        yield Fault(f"teams[{index}].flavors.{flavor}.chips", last.flavors[flavor].chips, wanted, remedy)


@rule
def _parts(path: str, team: TeamSection, settings: Settings) -> Iterator[Fault]:
    by_name = {section.flavor: section for section in settings.slices}
    for flavor, part in team.flavors.items():
        if flavor in by_name:
            at = f"{path}.flavors.{flavor}"
            yield from whole_slices(at, part, ("chips", "borrow", "lend"), by_name[flavor])
            yield from lent(at, part, part.chips, by_name[flavor])


@rule
def _members(path: str, team: TeamSection) -> Iterator[Fault]:
    for key, names in (("users", team.members.users), ("groups", team.members.groups)):
        yield from duplicates([(f"{path}.{key}[{j}]", name) for j, name in enumerate(names)], "member", "remove it")
        for j, name in enumerate(names):
            if not name.strip():
                yield Fault(
                    f"{path}.{key}[{j}]", name, "a member's name, like ann@example.com", "write it, or remove it"
                )
            else:
                yield from _member(f"{path}.{key}[{j}]", key, name)


def _member(path: str, key: str, name: str) -> Iterator[Fault]:
    one, like = ("a user", "ann@example.com") if key == "users" else ("a group", "team-a@example.com")
    if _ACCOUNTS[key].fullmatch(name) is not None:
        return
    if name.startswith(_SYSTEM):
        yield Fault(
            path, name, f"{one} of the team's own people: this one is Kubernetes' own", f"write {one} like {like}"
        )
    elif key == "groups" and "@" not in name:
        wanted = "a group by its address: GKE knows Google's groups only, so that this one has no members"
        yield Fault(path, name, wanted, f"write {one} like {like}")

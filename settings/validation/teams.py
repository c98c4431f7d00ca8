"""Teams: names and namespaces of their own, parts that are there to be had, and members who are people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.plan.slices import chips_of
from settings.schema.stack import Settings, SliceSection
from settings.schema.teams import TeamSection
from settings.validation.cohorts import lent, whole_slices
from settings.validation.lists import copies, distinct, places
from settings.validation.problem import MISSING, Problem, duplicates, listed, rule
from settings.validation.queues import namespace_of_system

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
def check(settings: Settings) -> Iterator[Problem]:
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
def _names(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """A team's cluster queue has the team's name."""
    queues = places("queues[{}].clusterQueue", distinct(settings.queues), "cluster_queue")
    seen: dict[str, str] = {}
    for path, name in queues:
        seen.setdefault(name, path)
    for path, name in places("teams[{}].name", entries, "name"):
        if name in seen:
            expected = f"a name of its own, as its cluster queue has it too: {seen[name]} is the same"
            yield Problem(path, name, expected, "rename one")
        seen.setdefault(name, path)


@rule
def _namespaces(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """A namespace is one team's. Two teams of one name have one fault, for that."""
    queues = places("queues[{}].namespace", distinct(settings.queues), "namespace")
    taken = [(path, name) for path, name in queues if name != "default"]
    names: list[str] = []
    for index, team in entries:
        stated = team.namespace is not None
        path = f"teams[{index}].namespace" if stated else f"teams[{index}].name"
        yield from namespace_of_system(path, team.home, "write a name of your own")
        if team.home == "default":
            expected = "a namespace that is the team's alone: default is everybody's, and cannot be made or deleted"
            yield Problem(path, team.home, expected, "write a name of your own")
        elif team.name not in names:
            yield from duplicates([*taken, (path, team.home)], "namespace", "rename one")
            taken.append((path, team.home))
        names.append(team.name)


@rule
def _security_group(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """GKE asks Google for the groups of a user only inside of one group, whose name it prescribes."""
    if settings.cluster.existing:
        return
    group = settings.cluster.security_group
    members = [name for _, team in entries for name in team.members.groups if "@" in name]
    if group is None and members:
        like = f"{_SECURITY_GROUP}{members[0].rsplit('@', 1)[1]}"
        expected = f"the group that holds {listed(members)}: GKE knows no other groups"
        yield Problem("cluster.securityGroup", MISSING, expected, f"write {like}, or name users")
    elif group is not None and (not group.startswith(_SECURITY_GROUP) or group == _SECURITY_GROUP):
        expected = f"{_SECURITY_GROUP}DOMAIN, the name that GKE prescribes"
        domain = group.rsplit("@", 1)[1] if "@" in group else ""
        yield Problem("cluster.securityGroup", group, expected, f"write {_SECURITY_GROUP}{domain or 'example.com'}")


@rule
def _sums(settings: Settings) -> Iterator[Problem]:
    """One fault for a flavor of which the teams together have more than there is."""
    for section in settings.slices:
        yield from _sum(section, settings)


@rule
def _sum(section: SliceSection, settings: Settings) -> Iterator[Problem]:
    flavor, there = section.flavor, chips_of(section)
    having = [(index, team) for index, team in distinct(settings.teams) if flavor in team.flavors]
    total = sum(team.flavors[flavor].chips for _, team in having)
    if total > there:
        index, last = having[-1]
        others = [f"{team.name} {team.flavors[flavor].chips}" for _, team in having[:-1]]
        rest = there - (total - last.flavors[flavor].chips)
        beside = f"; {listed(others)} have the others" if others else ""
        expected = f"at most {max(rest, 0)}: there are {there} chips of {flavor}{beside}"
        fix = f"write {rest} or less" if rest >= 0 else "give the teams less"
        yield Problem(f"teams[{index}].flavors.{flavor}.chips", last.flavors[flavor].chips, expected, fix)


@rule
def _parts(path: str, team: TeamSection, settings: Settings) -> Iterator[Problem]:
    by_name = {section.flavor: section for section in settings.slices}
    for flavor, part in team.flavors.items():
        if flavor in by_name:
            at = f"{path}.flavors.{flavor}"
            yield from whole_slices(at, part, ("chips", "borrow", "lend"), by_name[flavor])
            yield from lent(at, part, part.chips, by_name[flavor])


@rule
def _members(path: str, team: TeamSection) -> Iterator[Problem]:
    for key, names in (("users", team.members.users), ("groups", team.members.groups)):
        yield from duplicates([(f"{path}.{key}[{j}]", name) for j, name in enumerate(names)], "member", "remove it")
        for j, name in enumerate(names):
            if not name.strip():
                yield Problem(
                    f"{path}.{key}[{j}]", name, "a member's name, like ann@example.com", "write it, or remove it"
                )
            else:
                yield from _member(f"{path}.{key}[{j}]", key, name)


def _member(path: str, key: str, name: str) -> Iterator[Problem]:
    one, like = ("a user", "ann@example.com") if key == "users" else ("a group", "team-a@example.com")
    if _ACCOUNTS[key].fullmatch(name) is not None:
        return
    if name.startswith(_SYSTEM):
        yield Problem(
            path, name, f"{one} of the team's own people: this one is Kubernetes' own", f"write {one} like {like}"
        )
    elif key == "groups" and "@" not in name:
        expected = "a group by its address: GKE knows Google's groups only, so that this one has no members"
        yield Problem(path, name, expected, f"write {one} like {like}")

"""Teams: parts that exist, and members who are people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.plan.slices import chips_of
from settings.schema.stack import Settings, SliceSection
from settings.schema.teams import TeamSection
from settings.validation.problem import MISSING, Problem, duplicates, listed

_SECURITY_GROUP = "gke-security-groups@"
_SYSTEM = "system:"
"""The prefix of Kubernetes' own users and groups: everybody, anonymous users, and cluster administrators."""
_ACCOUNTS = {
    "users": re.compile(r"system:serviceaccount:[^:]+:[^:]+"),
    "groups": re.compile(r"system:serviceaccounts:[^:]+"),
}
"""The exceptions: one service account, and all service accounts of a namespace."""


def check(settings: Settings) -> Iterator[Problem]:
    for section in settings.slices:
        yield from _sum(section, settings)
    yield from _security_group(settings)
    for index, team in enumerate(settings.teams):
        yield from _members(f"teams[{index}].members", team)


def _security_group(settings: Settings) -> Iterator[Problem]:
    """GKE looks up the groups of a user inside one group only, whose name it prescribes."""
    if settings.cluster.existing:
        return
    group = settings.cluster.security_group
    members = [name for team in settings.teams for name in team.members.groups if "@" in name]
    if group is None and members:
        like = f"{_SECURITY_GROUP}{members[0].rsplit('@', 1)[1]}"
        expected = f"the group that contains {listed(members)}: GKE looks up no other groups"
        yield Problem("cluster.securityGroup", MISSING, expected, f"write {like}, or name users")
    elif group is not None and (not group.startswith(_SECURITY_GROUP) or group == _SECURITY_GROUP):
        expected = f"{_SECURITY_GROUP}DOMAIN, the name that GKE prescribes"
        domain = group.rsplit("@", 1)[1] if "@" in group else ""
        yield Problem("cluster.securityGroup", group, expected, f"write {_SECURITY_GROUP}{domain or 'example.com'}")


def _sum(section: SliceSection, settings: Settings) -> Iterator[Problem]:
    """One problem for a flavor of which the teams together have more chips than exist, at the last team."""
    flavor, total_chips = section.flavor, chips_of(section)
    having = [(index, team) for index, team in enumerate(settings.teams) if flavor in team.flavors]
    total = sum(team.flavors[flavor].chips for _, team in having)
    if total > total_chips:
        index, last = having[-1]
        others = [f"{team.name} {team.flavors[flavor].chips}" for _, team in having[:-1]]
        rest = total_chips - (total - last.flavors[flavor].chips)
        beside = f"; the other teams have {listed(others)}" if others else ""
        expected = f"at most {max(rest, 0)}: {flavor} has {total_chips} chips{beside}"
        fix = f"write {rest} or less" if rest >= 0 else "give the teams less"
        yield Problem(f"teams[{index}].flavors.{flavor}.chips", last.flavors[flavor].chips, expected, fix)


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
            path, name, f"{one} of the team's people: this one is built into Kubernetes", f"write {one} like {like}"
        )
    elif key == "groups" and "@" not in name:
        expected = "the address of a Google group: GKE knows no others, so this one has no members"
        yield Problem(path, name, expected, f"write {one} like {like}")

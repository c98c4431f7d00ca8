"""What the engine asks, in plain values: the same for every kind of resource."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rehearsal.gcp_provider.errors import ProviderError
from rehearsal.gcp_provider.google.cloud import Cloud
from rehearsal.gcp_provider.google.rest import Patience
from rehearsal.gcp_provider.resources import KINDS
from rehearsal.gcp_provider.terraform import check as checks
from rehearsal.gcp_provider.terraform import diff as diffs
from rehearsal.gcp_provider.terraform.kind import Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.mapping import DEFAULTS, imported, inputs_from
from rehearsal.gcp_provider.terraform.package import has_resource
from rehearsal.gcp_provider.wire import UNKNOWN, Secret, has_unknown

_TIMEOUTS = "e2bfb730-ecaa-11e6-8f88-34363bc7c4c0"
"""The key under which Terraform's SDK keeps a resource's timeouts."""
META = "__meta"


def kind_of(token: str) -> ResourceKind:
    """Raises ProviderError for what is not supported here."""
    kind = KINDS.get(token)
    if kind is not None:
        return kind
    if has_resource(token):
        raise ProviderError(
            f"resource type {token} is not supported by the rehearsal provider; supported: {', '.join(sorted(KINDS))}"
        )
    raise ProviderError(f"resource type {token} is not one of the installed pulumi_gcp package")


@dataclass(frozen=True)
class Naming:
    """What an autoname is made of."""

    name: str
    seed: bytes
    proposed: str = ""
    enforced: bool = False
    disabled: bool = False


def check(
    kind: ResourceKind, old: Values, news: Values, naming: Naming
) -> tuple[dict[str, Any], list[checks.FieldProblem]]:
    """The inputs as they go into the state, and what is wrong with them."""
    found = [*checks.failures(kind.types.inputs, news), *checks.unsupported(news, kind.table)]
    if found:
        return dict(news), found
    stated = checks.converted(kind.types.inputs, news)
    inputs = checks.with_defaults(kind.types.inputs, stated, kind.table, without=kind.excluded(stated))
    found = _name(kind, old, inputs, naming)
    found += [checks.FieldProblem(path, reason) for path, reason in kind.faults(inputs)]
    return inputs, found


def _name(kind: ResourceKind, old: Values, inputs: dict[str, Any], naming: Naming) -> list[checks.FieldProblem]:
    auto = kind.autoname
    if auto is None or inputs.get(auto.property) is not None or inputs.get("namePrefix") is not None:
        return []
    if naming.disabled:
        return [checks.FieldProblem(auto.property, f"{auto.property} is required: automatic naming is disabled")]
    kept = old.get(auto.property) if auto.property in old.get(DEFAULTS, []) else None
    proposed = naming.proposed if naming.proposed else checks.random_name(naming.name, auto.limit, naming.seed)
    inputs[auto.property] = proposed if kept is None else kept
    inputs[DEFAULTS] = sorted({*inputs[DEFAULTS], auto.property})
    return []


@dataclass(frozen=True)
class Difference:
    changes: Sequence[diffs.FieldChange]
    delete_first: bool

    @property
    def replaces(self) -> bool:
        return any(change.force for change in self.changes)


def diff(kind: ResourceKind, cloud: Cloud, state: Values, inputs: Values, ignored: Sequence[str] = ()) -> Difference:
    """What differs. `ignored` are the program's `ignoreChanges`: paths whose differences, and those inside, do not count."""
    wanted = kind.effective(cloud, inputs)
    changed = diffs.changes(kind.types.inputs, state, wanted, kind.table)
    changed = [change for change in kind.adjusted(changed, state, wanted) if not _is_ignored(change.path, ignored)]
    return Difference(changed, _same_given_name(kind, state, inputs))


def _is_ignored(path: str, ignored: Sequence[str]) -> bool:
    """Whether a path is one of these or inside it; `*` stands for any index or key."""
    return any(re.match(_ignoring(entry), path) for entry in ignored)


def _ignoring(entry: str) -> str:
    return re.escape(entry).replace(r"\*", r"[^.\[\]]+") + r"($|[.\[])"


def _same_given_name(kind: ResourceKind, state: Values, inputs: Values) -> bool:
    """A name that the program gave cannot be had twice: the old one has to go before the new one is made."""
    if kind.autoname is None:
        return False
    name = kind.autoname.property
    given = inputs.get(name) is not None and name not in inputs.get(DEFAULTS, [])
    return given and state.get(name) == inputs.get(name)


def create(kind: ResourceKind, cloud: Cloud, inputs: Values, seconds: float) -> tuple[str, dict[str, Any]]:
    _refuse_unknown(inputs)
    identity, outputs = kind.create(_job(kind, cloud, "create", seconds), stripped(inputs))
    return identity, finished(kind, outputs)


def preview_create(kind: ResourceKind, cloud: Cloud, inputs: Values) -> dict[str, Any]:
    """What is known before it is made; the rest is said to be unknown."""
    wanted = kind.effective(cloud, stripped(inputs))
    open_ = {
        name: UNKNOWN
        for name in kind.types.outputs
        if name in kind.table and (kind.table[name].computed or kind.table[name].output)
    }
    return {**open_, **kind.complete(wanted, {}), **wanted, **kind.planned(cloud, wanted)}


def read(
    kind: ResourceKind, cloud: Cloud, identity: str, state: Values, inputs: Values, seconds: float
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """(outputs, inputs), or None when it is gone. With no state it is an import."""
    job = _job(kind, cloud, "create", seconds)
    known = {name: value for name, value in state.items() if name != META} if state else kind.parse(identity, cloud)
    outputs = kind.read(job, canonical(kind, cloud, identity), known)
    if outputs is None:
        return None
    types = kind.types.inputs
    refreshed = inputs_from(inputs, outputs, types, kind.table) if inputs else imported(types, outputs, kind.table)
    return finished(kind, outputs), refreshed


def canonical(kind: ResourceKind, cloud: Cloud, identity: str) -> str:
    """An id in full, from any of the forms that an import accepts."""
    full = kind.ids[0]
    if re.fullmatch(full, identity):
        return identity
    parts = kind.parse(identity, cloud)
    return re.sub(r"\(\?P<(\w+)>(?:[^()\[\]]|\[[^\]]*\])*\)", lambda match: str(parts.get(match[1], "")), full)


def update(
    kind: ResourceKind,
    cloud: Cloud,
    identity: str,
    state: Values,
    inputs: Values,
    seconds: float,
    ignored: Sequence[str] = (),
) -> dict[str, Any]:
    _refuse_unknown(inputs)
    changed = diff(kind, cloud, state, inputs, ignored).changes
    job = _job(kind, cloud, "update", seconds)
    return finished(kind, kind.update(job, identity, state, stripped(inputs), changed))


def preview_update(
    kind: ResourceKind, cloud: Cloud, state: Values, inputs: Values, ignored: Sequence[str] = ()
) -> dict[str, Any]:
    wanted = kind.effective(cloud, stripped(inputs))
    changed = diff(kind, cloud, state, inputs, ignored).changes
    gone = {change.path for change in changed if change.verb is diffs.Verb.DELETE}
    return marked(kind, {name: value for name, value in _over(state, wanted).items() if name not in gone})


def _over(old: Any, new: Any) -> Any:
    """New values over old ones, object by object: what is not stated stays as it is."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return {**old, **{name: _over(old.get(name), value) for name, value in new.items()}}
    return new


def delete(kind: ResourceKind, cloud: Cloud, identity: str, state: Values, seconds: float) -> None:
    policy = state.get("deletionPolicy")
    if policy == "ABANDON":
        return
    if policy == "PREVENT":
        raise ProviderError(f'cannot destroy {identity}: its deletion_policy is set to "PREVENT"')
    kind.delete(_job(kind, cloud, "delete", seconds), identity, state)


def _job(kind: ResourceKind, cloud: Cloud, verb: str, seconds: float) -> Job:
    return Job(cloud, Patience(seconds if seconds > 0 else kind.minutes[verb] * 60.0, cloud.cancelled))


def _refuse_unknown(inputs: Values) -> None:
    open_ = [name for name, value in inputs.items() if has_unknown(value)]
    if open_:
        raise ProviderError(f"the engine sent values that are not known yet: {', '.join(open_)}")


def stripped(value: Any) -> Any:
    """Without the bridge's own notes."""
    if isinstance(value, Mapping):
        return {key: stripped(entry) for key, entry in value.items() if key != DEFAULTS}
    return [stripped(entry) for entry in value] if isinstance(value, list) else value


def finished(kind: ResourceKind, outputs: Values) -> dict[str, Any]:
    """Outputs as they go into the state: with secrets marked, and Terraform's notes."""
    timeouts = {verb: minutes * 60 * 10**9 for verb, minutes in kind.minutes.items()}
    return {**marked(kind, stripped(outputs)), META: json.dumps({_TIMEOUTS: timeouts}, separators=(",", ":"))}


def marked(kind: ResourceKind, outputs: Values) -> dict[str, Any]:
    """With those parts as secrets that the schema calls sensitive."""
    result = {name: copy.deepcopy(value) for name, value in outputs.items() if value is not None}
    for path in (path for path, rule in kind.table.items() if rule.secret):
        _mark(result, path.split("."))
    return result


def _mark(values: Any, path: Iterable[str]) -> None:
    name, *rest = path
    if isinstance(values, dict) and values.get(name) is not None:
        if rest:
            _mark(values[name], rest)
        else:
            values[name] = Secret(values[name])

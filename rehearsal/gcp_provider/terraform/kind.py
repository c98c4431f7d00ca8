"""What every kind of resource has: its table, how it is named, and the four verbs."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import Cancelled, GoogleError, InitError, ProviderError
from rehearsal.gcp_provider.google.cloud import Cloud
from rehearsal.gcp_provider.google.rest import Patience, Rest
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.mapping import kept
from rehearsal.gcp_provider.terraform.package import ResourceTypes, resource_types
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules

Values = Mapping[str, Any]
DELETION_POLICY = rules("deletionPolicy", local=True, computed=True, default="DELETE")
"""What a destroy does: DELETE, ABANDON (forget it) or PREVENT (refuse). New in version 8 of the Terraform provider."""


@dataclass(frozen=True)
class Job:
    """One request of the engine, under way."""

    cloud: Cloud
    patience: Patience

    @property
    def rest(self) -> Rest:
        return self.cloud.rest


@dataclass(frozen=True)
class Autoname:
    """A property that gets a name of its own when the program states none."""

    property: str = "name"
    limit: int = 63


class ResourceKind(ABC):
    """A resource type. Its objects hold nothing: all state is in the engine and at Google."""

    token: ClassVar[str]
    table: ClassVar[FieldRules]
    autoname: ClassVar[Autoname | None] = Autoname()
    ids: ClassVar[Sequence[str]]
    """The forms of an id, as regular expressions with named groups: the full one first."""
    minutes: ClassVar[Mapping[str, int]] = {"create": 20, "update": 20, "delete": 20}
    """The schema's default timeouts."""

    @property
    def types(self) -> ResourceTypes:
        return resource_types(self.token)

    @abstractmethod
    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        """Makes it; gives its id and outputs. Raises InitError when it exists but is broken, or is still in the making when
        the engine cancels."""

    @abstractmethod
    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        """Its outputs, or None when it is gone. `known` is the state, or what the id says in an import."""

    @abstractmethod
    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        """Changes it in place."""

    @abstractmethod
    def delete(self, job: Job, identity: str, state: Values) -> None:
        """Removes it. No error when it is gone already."""

    def faults(self, inputs: Values) -> Sequence[tuple[str, str]]:
        """What contradicts itself in the inputs: (property, reason). Beyond what types tell."""
        return ()

    def excluded(self, inputs: Values) -> Sequence[str]:
        """Properties that what is stated excludes: they get no default."""
        return ()

    def effective(self, cloud: Cloud, inputs: Values) -> dict[str, Any]:
        """The inputs to compare with the state: with what the provider's own settings add."""
        result = dict(inputs)
        if "project" in self.types.inputs and result.get("project") is None and cloud.project:
            result["project"] = cloud.project
        return result

    def adjusted(self, changed: Sequence[FieldChange], state: Values, inputs: Values) -> Sequence[FieldChange]:
        """Differences as the provider's own code corrects them (CustomizeDiff)."""
        return changed

    def planned(self, cloud: Cloud, inputs: Values) -> dict[str, Any]:
        """Outputs that are known before anything is made."""
        return {}

    def parse(self, identity: str, cloud: Cloud) -> dict[str, Any]:
        """What an id says, for an import."""
        for pattern in self.ids:
            match = re.fullmatch(pattern, identity)
            if match is not None:
                found = {name: value for name, value in match.groupdict().items() if value is not None}
                fallbacks = {"project": cloud.project, "region": cloud.region, "location": cloud.region}
                return {
                    **{name: value for name, value in fallbacks.items() if name in self.types.inputs and value},
                    **found,
                }
        forms = ", ".join(re.sub(r"\(\?P<(\w+)>[^)]*\)", r"{\1}", pattern) for pattern in self.ids)
        raise ProviderError(f'Import id "{identity}" doesn\'t match any of the accepted formats: {forms}')

    @contextmanager
    def accepted(self, job: Job, identity: str, inputs: Values, **noted: Any) -> Iterator[None]:
        """Around all that a creation still waits for once Google has accepted it. Raises InitError where the engine cancels that.

        Google goes on with what it has accepted. The engine's contract (`Cancel` in Pulumi's provider.proto) has a creation
        that is aborted end in an initialization error: with it the engine keeps the id and updates the resource in its next
        `up`; any other error would make it forget a thing that is there. (The bridge that the real provider stands on leaves
        Cancel aside and waits to the end, so that its users lose no id either.) `noted` goes into the state beside what can
        be read already.
        """
        try:
            yield
        except Cancelled as cancelled:
            try:
                found = self.read(job, identity, inputs)
            except (Cancelled, GoogleError, ProviderError):
                found = None
            outputs = self.complete(inputs, {}) if found is None else found
            reason = f"{cancelled}; Google goes on with it, and the next update takes it up"
            raise InitError(identity, {**outputs, **noted}, reason) from cancelled

    def known(self, state: Values, inputs: Values) -> dict[str, Any]:
        """What is known of it after an update, before it is read: what the program states, and what it leaves open."""
        open_ = {
            name: value
            for name, value in state.items()
            if name not in self.types.inputs or (name in self.table and self.table[name].computed)
        }
        return {**open_, **inputs}

    def complete(self, inputs: Values, read: Mapping[str, Any]) -> dict[str, Any]:
        """Outputs: what Google says, and what only the program does."""
        return {**kept(self.types.outputs, inputs, self.table), **read}

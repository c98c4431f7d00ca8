"""A container's environment and command line, as the kubelet computes them. Pure, but for looking up what is referred to."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence

from rehearsal.pods.api import Object

Lookup = Callable[[str, str], Object | None]
"""(`configmaps` or `secrets`, name) -> the object in the pod's namespace."""


class MissingReference(Exception):
    """Something that a container needs does not exist yet; the kubelet waits for it (CreateContainerConfigError)."""


def expand(text: str, values: dict[str, str]) -> str:
    """`$(NAME)` becomes the value, `$$(NAME)` stays as `$(NAME)`, an unknown name stays as it is."""

    def one(match: re.Match[str]) -> str:
        if match.group(0).startswith("$$"):
            return match.group(0)[1:]
        return values.get(match.group(1), match.group(0))

    return re.sub(r"\$?\$\(([A-Za-z_.][\w.-]*)\)", one, text)


def data_of(thing: Object) -> dict[str, bytes]:
    """The keys of a ConfigMap or Secret, as bytes."""
    if "Secret" in thing.get("kind", "Secret") and "data" in thing and thing.get("type") is not None:
        return {key: base64.b64decode(value) for key, value in (thing["data"] or {}).items()}
    plain = {key: value.encode() for key, value in (thing.get("data") or {}).items()}
    return plain | {key: base64.b64decode(value) for key, value in (thing.get("binaryData") or {}).items()}


def environment(pod: Object, container: Object, base: dict[str, str], lookup: Lookup) -> dict[str, str]:
    """The variables of a container over `base`. Raises MissingReference."""
    values = dict(base)
    for source in container.get("envFrom", []):
        kind, reference = (
            ("configmaps", source["configMapRef"]) if "configMapRef" in source else ("secrets", source["secretRef"])
        )
        found = lookup(kind, reference["name"])
        if found is None and not reference.get("optional", False):
            raise MissingReference(f'{kind[:-1]} "{reference["name"]}" not found')
        values |= {source.get("prefix", "") + k: v.decode() for k, v in data_of(found or {}).items()}
    for entry in container.get("env", []):
        value = _value(pod, container, entry, lookup)
        if value is not None:
            values[entry["name"]] = expand(value, values) if "valueFrom" not in entry else value
    return values


def _value(pod: Object, container: Object, entry: Object, lookup: Lookup) -> str | None:
    source = entry.get("valueFrom")
    if source is None:
        return str(entry.get("value", ""))
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"])
    if "resourceFieldRef" in source:
        return resource(container, source["resourceFieldRef"]["resource"])
    kind, reference = (
        ("configmaps", source["configMapKeyRef"])
        if "configMapKeyRef" in source
        else ("secrets", source["secretKeyRef"])
    )
    found = data_of(lookup(kind, reference["name"]) or {})
    if reference["key"] not in found:
        if reference.get("optional", False):
            return None
        raise MissingReference(f'key "{reference["key"]}" of {kind[:-1]} "{reference["name"]}" not found')
    return found[reference["key"]].decode()


def field(pod: Object, path: str) -> str:
    """A field of the pod for the downward API, such as `metadata.name` or `metadata.labels['app']`."""
    match = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path)
    if match:
        return str(pod["metadata"].get(match.group(1), {}).get(match.group(2), ""))
    if path in ("metadata.labels", "metadata.annotations"):
        return "\n".join(f'{k}="{v}"' for k, v in sorted(pod["metadata"].get(path.split(".")[1], {}).items()))
    value: object = pod
    for part in path.split("."):
        value = value.get(part, "") if isinstance(value, dict) else ""
    return str(value)


def resource(container: Object, name: str) -> str:
    """A limit or request of the container in whole units, as the downward API rounds it up."""
    kind, _, which = name.partition(".")
    amount = container.get("resources", {}).get(kind, {}).get(which, "0")
    units = {"m": 0.001, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}
    match = re.fullmatch(r"([\d.]+)([A-Za-z]*)", str(amount))
    value = float(match.group(1)) * units.get(match.group(2), 1) if match else 0.0
    return str(int(-(-value // 1)))


def argv(container: Object, entrypoint: Sequence[str], values: dict[str, str]) -> list[str]:
    """`command` replaces the image's entrypoint, `args` its arguments (kubernetes.io: define a command and arguments)."""
    command = [expand(word, values) for word in container.get("command") or entrypoint]
    return [*command, *(expand(word, values) for word in container.get("args") or [])]

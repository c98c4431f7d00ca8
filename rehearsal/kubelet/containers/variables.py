"""A container's environment variables, from its spec and the objects that the spec refers to."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from rehearsal.kubelet.containers.downward_api import Surroundings, field, resource
from rehearsal.kubelet.containers.expansion import expand

Pod = dict[str, Any]
Lookup = Callable[[str, str], "dict[str, Any] | None"]
"""(kind, name) -> the ConfigMap or Secret of the pod's namespace."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class ConfigError(Exception):
    """The container cannot be created as its spec stands (CreateContainerConfigError)."""


def content(kind: str, item: Mapping[str, Any]) -> dict[str, bytes]:
    """The entries of a ConfigMap or a Secret as bytes."""
    if kind == "Secret":
        return {name: base64.b64decode(value) for name, value in (item.get("data") or {}).items()}
    plain = {name: value.encode() for name, value in (item.get("data") or {}).items()}
    return plain | {name: base64.b64decode(value) for name, value in (item.get("binaryData") or {}).items()}


def environment(
    pod: Pod, container: Mapping[str, Any], around: Surroundings, lookup: Lookup, service_host: str, service_port: int
) -> dict[str, str]:
    """All variables of one container. Raises ConfigError when an object or key it needs is missing, FieldError."""
    result = {"PATH": PATH, "HOSTNAME": hostname(pod)}
    result |= {"KUBERNETES_SERVICE_HOST": service_host, "KUBERNETES_SERVICE_PORT": str(service_port)}
    result |= {"KUBERNETES_SERVICE_PORT_HTTPS": str(service_port)}
    result |= {"KUBERNETES_PORT": f"tcp://{service_host}:{service_port}"}
    for source in container.get("envFrom") or []:
        result |= _from_source(source, lookup)
    for variable in container.get("env") or []:
        value = _value(pod, container, variable, around, lookup, result)
        if value is not None:
            result[variable["name"]] = value
    return result


def hostname(pod: Pod) -> str:
    """What a pod calls itself: its node's name on the node's own network; the kernel allows 63 characters."""
    spec = pod["spec"]
    if spec.get("hostNetwork"):
        return str(spec["nodeName"])[:63].rstrip("-.")
    return str(spec.get("hostname") or pod["metadata"]["name"])[:63].rstrip("-.")


def _from_source(source: Mapping[str, Any], lookup: Lookup) -> dict[str, str]:
    kind = "ConfigMap" if "configMapRef" in source else "Secret"
    reference = source["configMapRef" if kind == "ConfigMap" else "secretRef"]
    item = lookup(kind, reference["name"])
    if item is None:
        if reference.get("optional"):
            return {}
        raise ConfigError(f'{kind.lower()} "{reference["name"]}" not found')
    prefix = source.get("prefix") or ""
    return {prefix + name: value.decode(errors="replace") for name, value in content(kind, item).items()}


def _value(
    pod: Pod, container: Mapping[str, Any], variable: Mapping[str, Any], around: Surroundings, lookup: Lookup,
    known: Mapping[str, str],
) -> str | None:  # fmt: skip
    source = variable.get("valueFrom")
    if source is None:
        return expand(variable.get("value") or "", known)
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"], around)
    if "resourceFieldRef" in source:
        return resource(pod, source["resourceFieldRef"], str(container["name"]), around)
    for word, kind in (("configMapKeyRef", "ConfigMap"), ("secretKeyRef", "Secret")):
        if word in source:
            return _key(kind, source[word], lookup)
    raise ConfigError(f"variable {variable['name']} has a source that is not known: {', '.join(source)}")


def _key(kind: str, reference: Mapping[str, Any], lookup: Lookup) -> str | None:
    item = lookup(kind, reference["name"])
    entries = content(kind, item) if item is not None else None
    if entries is not None and reference["key"] in entries:
        return entries[reference["key"]].decode(errors="replace")
    if reference.get("optional"):
        return None
    if entries is None:
        raise ConfigError(f'{kind.lower()} "{reference["name"]}" not found')
    raise ConfigError(f"couldn't find key {reference['key']} in {kind} {reference['name']}")

"""Rules over pods, wherever a resource describes some: a Pod, a JobSet, a RayJob, a Deployment, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from policies.model import Context, Finding, Resource
from policies.values import UNKNOWN, at, items, unknown
from settings.catalogue.labels import PRIVILEGED_ANNOTATION, QUEUE_LABEL, TPU_RESOURCE
from settings.schema.image_names import MOVING

RELEASE = "kubernetes:helm.sh/v3:Release"

_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
_HOST = ("hostNetwork", "hostPID", "hostIPC")


def tpu_work_in_a_queue(resource: Resource, _: Context) -> Iterator[Finding]:
    """Pods with chips that no queue admitted take slices from under the jobs that Kueue admitted."""
    asked = [_asks_for_chips(spec) for _, spec in _pods(resource)]
    certain = True in asked
    if not certain and None not in asked:
        return
    queue = at(resource.properties, "metadata", "labels", QUEUE_LABEL)
    remedy = f"give its metadata the label {QUEUE_LABEL} with the name of a LocalQueue of its namespace"
    if unknown(queue) or (not queue and not certain):
        yield Finding(resource, "whether it asks for chips outside a queue is not known yet", remedy, unknown=True)
    elif not queue:
        yield Finding(resource, f"its pods ask for {TPU_RESOURCE} and it is in no queue", remedy)


def images_pinned(resource: Resource, _: Context) -> Iterator[Finding]:
    """An image that changes under its name makes two runs of one job differ, and the hosts of one slice too."""
    if resource.type == RELEASE:
        yield from _release_pinned(resource)
        return
    if any(unknown(spec["containers"]) for _, spec in _pods(resource)):
        yield Finding(resource, "its containers are not known yet", "state them", unknown=True)
    seen: set[str] = set()
    for where, container in _containers(resource):
        image = container.get("image")
        if image is None or image in seen:
            continue
        seen.add(image)
        if unknown(image):
            yield Finding(resource, f"the image of {where} is not known yet", "state it", unknown=True)
            continue
        fault = image_fault(image)
        if fault:
            yield Finding(resource, f"the image {image} of {where} {fault}", _PIN)


def not_privileged(resource: Resource, context: Context) -> Iterator[Finding]:
    """Such a pod can do to its node, and to every other pod there, what it likes."""
    if at(resource.properties, "metadata", "name") in context.privileged:
        return
    declared = at(resource.properties, "metadata", "annotations", PRIVILEGED_ANNOTATION)
    if isinstance(declared, str) and declared.strip() and not unknown(declared):
        return
    powers = [(f"{where}{key}", spec.get(key)) for where, spec in _pods(resource) for key in _HOST]
    powers += [
        (f"{where}: privileged", at(container, "securityContext", "privileged"))
        for where, container in _containers(resource)
    ]
    remedy = f"leave it out, or declare it: privileged in the stack file's workload, or the annotation {PRIVILEGED_ANNOTATION}: <why>"
    taken = [what for what, value in powers if value is True]
    if taken:
        yield Finding(resource, f"its pods take the node's own powers ({', '.join(taken)}), undeclared", remedy)
    elif any(unknown(value) for _, value in powers):
        yield Finding(resource, "whether its pods are privileged is not known yet", remedy, unknown=True)


def image_fault(image: str) -> str | None:
    """What is wrong with how an image is named: `python` (no tag), `python:latest`. A port is no tag."""
    if _DIGEST.search(image):
        return None
    _, _, tag = image.rsplit("/", 1)[-1].partition(":")
    if not tag:
        return "has no tag"
    return f"has the moving tag {tag}" if tag in MOVING else None


_PIN = "name an exact tag, or better the digest (name@sha256:...)"


def _release_pinned(resource: Resource) -> Iterator[Finding]:
    """The chart is pinned, unless it is a folder, and so are the images that its values name. Where they name none, the
    pinned chart does."""
    chart, version = at(resource.properties, "chart"), at(resource.properties, "version")
    if unknown(chart) or unknown(version):
        yield Finding(resource, "the chart's version is not known yet", "state it", unknown=True)
    elif not version and ("://" in str(chart) or at(resource.properties, "repositoryOpts", "repo") is not None):
        yield Finding(resource, f"the chart {chart} has no version", "state the release's version")
    for where, image in _value_images(resource.properties.get("values"), "values"):
        tag = at(image, "tag")
        if unknown(tag):
            yield Finding(resource, f"the tag at {where} is not known yet", "state it", unknown=True)
        elif tag in MOVING and not at(image, "digest"):
            yield Finding(resource, f"the image {image['repository']} at {where} has the moving tag {tag}", _PIN)


def _value_images(value: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if isinstance(value.get("repository"), str):
            yield where, value
        for key, inner in value.items():
            yield from _value_images(inner, f"{where}.{key}")
    for index, inner in enumerate(items(value)):
        yield from _value_images(inner, f"{where}[{index}]")


def _pods(resource: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(where, pod spec) of every pod that a Kubernetes object describes: what has containers is one. A spec that is not
    known as a whole stands for a pod of which nothing is known."""
    if resource.type.startswith("kubernetes:") and resource.type != RELEASE:
        spec = at(resource.properties, "spec")
        yield from [("", dict.fromkeys(("containers", *_HOST), UNKNOWN))] if unknown(spec) else _specs(spec, "")


def _specs(value: Any, where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if isinstance(value, Mapping):
        if "containers" in value:
            yield where, value
            return
        for key, inner in value.items():
            yield from _specs(inner, where if key in ("spec", "template") else f"{where}{key} ")
    for index, inner in enumerate(items(value)):
        yield from _specs(inner, f"{where}{index} ")


def _containers(resource: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for where, spec in _pods(resource):
        for kind in ("initContainers", "containers"):
            for index, container in enumerate(items(spec.get(kind))):
                if isinstance(container, Mapping):
                    yield f"{where}container {container.get('name', index)}", container


def _asks_for_chips(spec: Mapping[str, Any]) -> bool | None:
    """Whether a pod asks for chips; None if that is not known yet."""
    amounts = [spec.get("containers")]
    for kind in ("initContainers", "containers"):
        for container in items(spec.get(kind)):
            amounts += [at(container, "resources", bound, TPU_RESOURCE) for bound in ("limits", "requests")]
    stated = [amount for amount in amounts[1:] if amount is not None and not unknown(amount)]
    if any(str(amount) != "0" for amount in stated):
        return True
    return None if any(unknown(amount) for amount in amounts) else False

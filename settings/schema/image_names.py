"""Names of container images, as a type: what the container runtimes parse, with a version that stays what it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator

from settings.schema.field_types import Rule

_LONGEST = 255
"""Characters of a name without tag and digest."""
_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_HOST = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(:[0-9]{1,5})?"
_NAME = rf"({_HOST}/)?{_PART}(/{_PART})*"
"""The grammar of distribution's reference package, which kubelets refuse other names by (InvalidImageName)."""
_TAG = r"[A-Za-z0-9_][-._A-Za-z0-9]{0,127}"
MOVING = ("latest", "stable", "main", "master", "nightly", "edge", "dev")
"""Tags that are given to one image after another."""
_MOVES = "|".join(MOVING)
_PATTERN = rf"{_NAME}((:{_TAG})?@sha256:[0-9a-f]{{64}}|:(?!({_MOVES})$){_TAG})"


def _accepts(value: str) -> bool:
    if len(value) > _LONGEST + 256 or re.fullmatch(_PATTERN, value) is None:
        return False
    name = value.split("@", 1)[0]
    head, _, last = name.rpartition("/")
    return len(f"{head}/{last.split(':', 1)[0]}") <= _LONGEST + 1


def _meant(value: str) -> Iterable[str]:
    """Without spaces around it, and without the scheme that addresses have."""
    yield re.sub(r"^[a-z]+://", "", value.strip())


ImageName = Annotated[
    str,
    AfterValidator(
        Rule(
            "an image (`HOST/PATH` of a-z, 0-9 and single separators) with its digest or an exact tag, so that all hosts of a "
            "slice and every restart run the same one",
            "us-docker.pkg.dev/my-project/images/train:1.0.0",
            _accepts,
            meant=_meant,
            pattern=_PATTERN,
        )
    ),
]

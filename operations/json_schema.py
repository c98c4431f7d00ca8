"""`make schema`: writes the schema of stack files, and names it in the first line of each."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import yaml

from settings.schema.json_schema import PATH, stack_schema, with_head


def text(root: Path) -> str:
    """The schema file's text for the project in `root`."""
    project = yaml.safe_load((root / "Pulumi.yaml").read_text())
    return json.dumps(stack_schema(project), indent=2) + "\n"


def main() -> int:
    root = Path.cwd()
    (root / PATH).parent.mkdir(exist_ok=True)
    (root / PATH).write_text(text(root))
    for path in root.glob("Pulumi.*.yaml"):
        path.write_text(with_head(path.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

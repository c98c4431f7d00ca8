"""The policy pack, started by the engine: `pulumi preview --policy-pack policies --policy-pack-config policies/config.json`."""

import sys
from pathlib import Path

# The engine starts a pack in its own folder; what it shares with the program (the TPU catalogue) is above it.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.pack import policies

PolicyPack("tpu-platform", policies(), enforcement_level=EnforcementLevel.MANDATORY)

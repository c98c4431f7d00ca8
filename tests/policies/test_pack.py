"""The policy pack itself: the process that the engine starts, spoken to as the engine does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import yaml
from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime.proto import analyzer_pb2, analyzer_pb2_grpc

from policies.model import Resource
from policies.rules import RULES
from tests.policies.objects import UNKNOWN, changed, cluster, cluster_queue, flavor, pod, pool

pytestmark = pytest.mark.policies

PACK = Path(__file__).resolve().parents[2] / "policies"
LONGEST_S = 30.0
"""How long the pack may take to start or to answer."""
ADVISORY, MANDATORY = analyzer_pb2.ADVISORY, analyzer_pb2.MANDATORY
PRIVILEGED_JOB = '{"tpu-platform:workloads": "[{\\"name\\": \\"pod\\", \\"privileged\\": true}]"}'


class Pack:
    """A running pack."""

    def __init__(self, **environment: str) -> None:
        command = [sys.executable, str(PACK)]
        self.process = subprocess.Popen(
            command, cwd=PACK, stdout=subprocess.PIPE, text=True, env=os.environ | environment
        )
        assert self.process.stdout is not None
        self.channel = grpc.insecure_channel(f"127.0.0.1:{int(self.process.stdout.readline())}")
        self.stub = analyzer_pb2_grpc.AnalyzerStub(self.channel)

    def stop(self) -> None:
        self.channel.close()
        self.process.terminate()
        self.process.wait(LONGEST_S)

    def configure(self, **policies: dict[str, Any]) -> None:
        """Levels (by number) and parameters, as the engine hands over a policy's configuration."""
        request = analyzer_pb2.ConfigureAnalyzerRequest()
        for name, stated in policies.items():
            found = request.policyConfig[name.replace("_", "-")]
            found.enforcementLevel = stated.get("level", MANDATORY)
            found.properties.CopyFrom(_struct({k: v for k, v in stated.items() if k != "level"}))
        self.stub.Configure(request, timeout=LONGEST_S)

    def analyze(self, resource: Resource, stack: str = "prod") -> list[tuple[str, int]]:
        """(policy, level) of each violation of one resource."""
        request = analyzer_pb2.AnalyzeRequest(
            type=resource.type,
            name=resource.name,
            urn=_urn(resource, stack),
            properties=_struct(resource.properties),
        )
        answer = self.stub.Analyze(request, timeout=LONGEST_S)
        return [(found.policyName, found.enforcementLevel) for found in answer.diagnostics]

    def analyze_stack(self, *resources: Resource) -> list[tuple[str, str]]:
        """(policy, URN) of each violation of the whole stack."""
        request = analyzer_pb2.AnalyzeStackRequest()
        for found in resources:
            request.resources.add(
                type=found.type, name=found.name, urn=_urn(found, "prod"), properties=_struct(found.properties)
            )
        answer = self.stub.AnalyzeStack(request, timeout=LONGEST_S)
        return [(found.policyName, found.urn) for found in answer.diagnostics]


def _struct(value: Any) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(value)
    return made


def _urn(resource: Resource, stack: str) -> str:
    return f"urn:pulumi:{stack}::tpu-platform::{resource.type}::{resource.name}"


@pytest.fixture
def pack() -> Iterator[Pack]:
    running = Pack()
    yield running
    running.stop()


def test_the_engine_finds_all_policies_and_the_environment_of_the_program(pack: Pack) -> None:
    info = pack.stub.GetAnalyzerInfo(empty_pb2.Empty(), timeout=LONGEST_S)
    assert info.name == "tpu-platform"
    assert [policy.name for policy in info.policies] == [rule.name for rule in RULES]
    stated = yaml.safe_load((PACK / "PulumiPolicy.yaml").read_text())["runtime"]
    assert stated == {"name": "python", "options": {"virtualenv": "../.venv"}}


def test_violations_in_production_and_elsewhere(pack: Pack) -> None:
    bare = Resource(cluster().type, "cluster", {"name": "bare"})
    assert pack.analyze(cluster()) == []
    assert pack.analyze(bare) == [
        ("control-plane-guarded", MANDATORY),
        ("deletion-protected", MANDATORY),
        ("labelled-for-cost", ADVISORY),
    ]
    assert pack.analyze(bare, stack="dev") == [("labelled-for-cost", ADVISORY)]


def test_levels_and_parameters_come_from_the_engines_configuration(pack: Pack) -> None:
    unprotected = changed(cluster(), "deletionProtection", False)
    pack.configure(
        deletion_protected={"level": ADVISORY, "productionStacks": ["live"]},
        labelled_for_cost={"level": MANDATORY, "labels": ["owner"]},
    )
    assert pack.analyze(unprotected, stack="prod") == [("labelled-for-cost", MANDATORY)]
    assert pack.analyze(unprotected, stack="live") == [
        ("deletion-protected", ADVISORY),
        ("labelled-for-cost", MANDATORY),
    ]


def test_what_the_engine_does_not_know_yet_is_neither_a_violation_nor_an_error(pack: Pack) -> None:
    assert pack.analyze(changed(cluster(), "deletionProtection", UNKNOWN)) == []
    assert pack.analyze(changed(pod(), "spec", UNKNOWN)) == []


def test_the_whole_stack(pack: Pack) -> None:
    queue = cluster_queue("16")
    assert pack.analyze_stack(pool(), flavor(), cluster_queue("8")) == []
    assert pack.analyze_stack(pool(), flavor(), queue) == [("quota-within-capacity", _urn(queue, "prod"))]


def test_what_the_stack_file_declares_privileged_is(pack: Pack) -> None:
    taken = changed(pod(), "spec.hostNetwork", True)
    assert pack.analyze(taken) == [("not-privileged", MANDATORY)]
    declaring = Pack(PULUMI_CONFIG=PRIVILEGED_JOB)
    try:
        assert declaring.analyze(taken) == []
    finally:
        declaring.stop()

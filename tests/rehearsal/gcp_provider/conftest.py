"""A server of Google's APIs, a provider that is attached to it, and a stub that speaks as the engine does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
import requests
from pulumi.runtime.proto import provider_pb2
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

from rehearsal.gcp_provider import wire
from rehearsal.gcp_provider.__main__ import serve
from tests.rehearsal.gcp.conftest import PROJECT, Gcp


@dataclass(frozen=True)
class Engine:
    """The engine's side: plain values in and out."""

    stub: Any
    google: str

    def configure(self, **arguments: Any) -> None:
        """Sets the provider up anew, with these arguments beside its project and region."""
        args = wire.encode({"project": PROJECT, "region": "us-west4", **arguments})
        assert self.stub.Configure(provider_pb2.ConfigureRequest(args=args, acceptSecrets=True)).supportsPreview

    def urn(self, token: str, name: str) -> str:
        return f"urn:pulumi:dev::tests::{token}::{name}"

    def check(
        self, token: str, name: str, news: dict[str, Any], olds: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], list[str]]:
        request = provider_pb2.CheckRequest(
            urn=self.urn(token, name),
            news=wire.encode(news),
            olds=wire.encode(olds if olds is not None else {}),
            randomSeed=b"seed",
        )
        answer = self.stub.Check(request)
        return wire.decode(answer.inputs)[0], [f"{f.property}: {f.reason}" for f in answer.failures]

    def create(
        self, token: str, name: str, news: dict[str, Any], preview: bool = False
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        """(id, outputs, inputs)"""
        inputs, failures = self.check(token, name, news)
        assert failures == []
        request = provider_pb2.CreateRequest(urn=self.urn(token, name), properties=wire.encode(inputs), preview=preview)
        answer = self.stub.Create(request)
        return answer.id, wire.decode(answer.properties)[0], inputs

    def diff(
        self, token: str, identity: str, state: dict[str, Any], news: dict[str, Any], ignored: tuple[str, ...] = ()
    ) -> Any:
        request = provider_pb2.DiffRequest(
            id=identity,
            urn=self.urn(token, "x"),
            olds=wire.encode(state),
            news=wire.encode(news),
            ignoreChanges=ignored,
        )
        return self.stub.Diff(request)

    def update(self, token: str, identity: str, state: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
        request = provider_pb2.UpdateRequest(
            id=identity, urn=self.urn(token, "x"), olds=wire.encode(state), news=wire.encode(news)
        )
        return wire.decode(self.stub.Update(request).properties)[0]

    def read(
        self, token: str, identity: str, state: dict[str, Any], inputs: dict[str, Any]
    ) -> tuple[str, dict[str, Any], dict[str, Any]]:
        request = provider_pb2.ReadRequest(
            id=identity, urn=self.urn(token, "x"), properties=wire.encode(state), inputs=wire.encode(inputs)
        )
        answer = self.stub.Read(request)
        return answer.id, wire.decode(answer.properties)[0], wire.decode(answer.inputs)[0]

    def delete(self, token: str, identity: str, state: dict[str, Any]) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(id=identity, urn=self.urn(token, "x"), properties=wire.encode(state))
        )

    def audit(self, method: str) -> list[dict[str, Any]]:
        """The calls that Google's server saw, by a part of their method's name."""
        return list(requests.get(f"{self.google}/_rehearsal/audit", params={"method": method}, timeout=10).json())


@pytest.fixture
def google(tmp_path: Path) -> Iterator[str]:
    server = Gcp(tmp_path / "google")
    server.start()
    yield server.base
    server.kill()


@pytest.fixture
def engine(google: str) -> Iterator[Engine]:
    server, port = serve(0, google)
    channel = grpc.insecure_channel(f"127.0.0.1:{port}")
    found = Engine(ResourceProviderStub(channel), google)
    found.configure()
    yield found
    channel.close()
    server.stop(None)


SERVICE = "gcp:projects/service:Service"


@pytest.fixture
def ready(tmp_path: Path, engine: Engine) -> Engine:
    """With the APIs on that clusters need."""
    Gcp(tmp_path, engine.google).enable("compute", "container", "iam")
    return engine

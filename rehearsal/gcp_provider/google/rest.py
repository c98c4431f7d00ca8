"""Calls to Google's REST APIs: JSON in and out, patience with servers that are busy."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

import urllib3
from urllib3.exceptions import HTTPError

from rehearsal.gcp_provider.errors import Cancelled, GoogleError, ProviderError

_CONNECT_S, _READ_S = 5.0, 300.0
_TRANSIENT_S = 90.0
"""How long the real provider's transport repeats a call that is answered with 429, 500, 502 or 503."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S, _GROWTH = 0.1, 3.0, 1.6
USER_AGENT = "rehearsal-pulumi-gcp/10.2.0 (Terraform-compatible)"
CANCELLED = "the engine cancelled what this waits for"
T = TypeVar("T")


def pauses() -> Iterator[float]:
    """Short at first, since rehearsed operations are quick, then longer."""
    pause = _FIRST_PAUSE_S
    while True:
        yield pause
        pause = min(pause * _GROWTH, _LONGEST_PAUSE_S)


@dataclass(frozen=True)
class Patience:
    """Until when something may take, and the bell that ends all waiting."""

    seconds: float
    cancelled: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.monotonic)

    def wait(self, pause: float) -> None:
        """Raises when the time is over, or when the engine cancels."""
        if self.cancelled.wait(pause):
            raise Cancelled(CANCELLED)

    @property
    def over(self) -> bool:
        return time.monotonic() - self.started > self.seconds


class Rest:
    """The client. One for all threads."""

    def __init__(self, bases: Mapping[str, str], token: str | None = None) -> None:
        self.bases = dict(bases)
        self._pool = urllib3.PoolManager(maxsize=32, retries=False, timeout=urllib3.Timeout(_CONNECT_S, _READ_S))
        self._headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"

    def call(
        self, api: str, verb: str, path: str, body: Any = None, patience: Patience | None = None, **query: Any
    ) -> dict[str, Any]:
        """One call, repeated while the server is too busy to answer it. Raises GoogleError.

        Once the engine has cancelled, nothing more is asked for that changes something: Cancelled is raised.
        """
        if patience is not None and patience.cancelled.is_set() and verb != "GET":
            raise Cancelled(CANCELLED)
        limit = Patience(_TRANSIENT_S, patience.cancelled if patience is not None else threading.Event())
        for pause in pauses():
            try:
                return self._once(f"{self.bases[api]}/{path}", verb, body, query)
            except GoogleError as error:
                if not error.is_transient or limit.over:
                    raise
            except HTTPError as error:
                if verb != "GET" or limit.over:
                    raise ProviderError(f"{verb} {self.bases[api]}/{path}: no answer: {error}") from error
            limit.wait(pause)
        raise AssertionError("pauses never end")

    def _once(self, url: str, verb: str, body: Any, query: Mapping[str, Any]) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers if data is None else {**self._headers, "Content-Type": "application/json"}
        fields = {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in query.items()}
        address = f"{url}?{urlencode(fields)}" if fields else url
        response = self._pool.request(verb, address, body=data, headers=headers)
        text = response.data.decode(errors="replace")
        if response.status >= 400:
            raise GoogleError(response.status, text)
        return dict(json.loads(text)) if text.strip() else {}

    def find(self, api: str, path: str, patience: Patience | None = None, **query: Any) -> dict[str, Any] | None:
        """A GET whose object may not be there."""
        try:
            return self.call(api, "GET", path, patience=patience, **query)
        except GoogleError as error:
            if error.is_missing:
                return None
            raise


def while_busy(work: Callable[[], T], patience: Patience) -> T:
    """Repeats what is refused because another operation runs on the same cluster, or too many do."""
    for pause in pauses():
        try:
            return work()
        except GoogleError as error:
            if not (error.is_busy or error.code == 429) or patience.over:
                raise
        patience.wait(pause)
    raise AssertionError("pauses never end")

"""A small rehearsal beside the checkout's own: Google's APIs with nothing in them, for as long as a `with` lasts.

It shares the built programs and charts, and has its own sandbox, Google and stacks in a temporary folder, so that nothing
of the checkout's rehearsal is seen or touched. Nothing outside reaches it: there are no loopback ports.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rehearsal import lifecycle
from rehearsal.host import sandbox
from rehearsal.host.layout import Layout


@contextmanager
def temporary_rehearsal(shared: Layout) -> Iterator[Layout]:
    """The layout of a rehearsal that runs; Google's APIs are still starting (`lifecycle.await_google`). The programs of
    `shared` must be there (`Toolchain.ensure`)."""
    # Not below the checkout: a longer path may exceed the limit of a Unix socket's address.
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        layout = Layout(Path(folder), shared.checkout).make()
        _link(shared.bin, layout.bin)
        _link(shared.pulumi_home / "plugins", layout.pulumi_home / "plugins")
        try:
            lifecycle.start_google(layout, answering=False)
            yield layout
        finally:
            sandbox.stop(layout)


def _link(shared: Path, own: Path) -> None:
    """Every file by a link of its own: the rehearsal writes a program of its own beside them, and the engine takes a folder
    that is a link for no plugin."""
    own.mkdir(parents=True, exist_ok=True)
    for entry in shared.iterdir() if shared.is_dir() else ():
        if entry.is_dir():
            _link(entry, own / entry.name)
        else:
            (own / entry.name).symlink_to(entry.resolve())

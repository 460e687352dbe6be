"""L1 in a process that may have no socket: `python -m tests.l1.alone FILE...` prints the decode verdict of each, or
`python -m tests.l1.alone --socket` shows what becomes of a process that asks for one."""

from __future__ import annotations

import json
import socket
import sys
import tempfile
from pathlib import Path

from tests.l1.test_report import SMALL
from tests.media.watching import forbid_sockets
from vvb_assets.l1.report import l1_report
from vvb_resources.benchmark.models import L1Limits


def main() -> None:
    """Forbid, then measure."""
    forbid_sockets()
    if sys.argv[1] == "--socket":
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with tempfile.TemporaryDirectory() as work:
        verdicts = [
            l1_report(Path(name), SMALL, L1Limits(), Path(work))["checks"]["decode"]["verdict"] for name in sys.argv[1:]
        ]
    print(json.dumps(verdicts))


if __name__ == "__main__":
    main()

"""Is the process that left something behind gone?"""

from __future__ import annotations

import os
import socket


def is_dead(host: str, pid: int) -> bool:
    """Is the process `pid` of this machine gone. One of another machine counts as alive: it cannot be asked."""
    if host != socket.gethostname():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False

"""Watchers for a program that must open no socket and no file but the one it is given. Linux only, no package needed.

Sockets: a seccomp filter, set on the process before it starts and inherited by all its children, kills whoever calls
`socket`. Files: inotify reports every opening of a file in the watched folders, by any process.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
KILL_PROCESS, ALLOW = 0x80000000, 0x7FFF0000
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06  # of classic BPF, on 32-bit words
SOCKET = {"x86_64": 41, "aarch64": 198}  # number of the system call socket
IN_OPEN, IN_NONBLOCK = 0x20, 0o4000


def forbid_sockets() -> None:
    """From here on this process and its children die with SIGSYS when they ask for a socket of any family."""
    number = SOCKET[platform.machine()]
    rules = [(LOAD, 0, 0, 0), (JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, KILL_PROCESS), (RETURN, 0, 0, ALLOW)]
    program = b"".join(struct.pack("HBBI", *rule) for rule in rules)
    code = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(rules), ctypes.addressof(code))
    head = ctypes.create_string_buffer(filters, len(filters))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or LIBC.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(head), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "seccomp is not to be had")


class Watch:
    """Names of the files opened in `folders` since the last `opened()`."""

    def __init__(self, *folders: Path) -> None:
        self._handle = LIBC.inotify_init1(IN_NONBLOCK)
        if self._handle < 0:
            raise OSError(ctypes.get_errno(), "inotify is not to be had")
        for folder in folders:
            if LIBC.inotify_add_watch(self._handle, os.fsencode(folder), IN_OPEN) < 0:
                raise OSError(ctypes.get_errno(), "cannot be watched", str(folder))

    def opened(self) -> set[str]:
        """Names (without folder; empty for a folder itself) opened since the last call."""
        names: set[str] = set()
        while True:
            try:
                data = os.read(self._handle, 1 << 16)
            except BlockingIOError:
                return names
            at = 0
            while at < len(data):
                *_, length = struct.unpack_from("iIII", data, at)
                names.add(os.fsdecode(data[at + 16 : at + 16 + length].rstrip(b"\0")))
                at += 16 + length

    def close(self) -> None:
        """End the watch."""
        os.close(self._handle)

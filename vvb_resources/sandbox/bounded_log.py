"""A log that cannot grow without end: what is in the middle is left out."""

from __future__ import annotations


class Log:
    """A file that keeps the first three quarters and the last quarter of `limit` bytes, and counts all of them."""

    def __init__(self, path: str, limit: int) -> None:
        self.file = open(path, "wb", buffering=0)  # noqa: SIM115 - lives as long as the process
        self.room, self.tail_limit = limit - limit // 4, limit // 4
        self.tail = bytearray()
        self.total = self.dropped = 0

    def write(self, data: bytes) -> None:
        self.total += len(data)
        head, rest = data[: self.room], data[self.room :]
        if head:
            self.file.write(head)
            self.room -= len(head)
        self.tail += rest
        if len(self.tail) > 2 * self.tail_limit:
            self._trim()

    def _trim(self) -> None:
        gone = max(0, len(self.tail) - self.tail_limit)
        del self.tail[:gone]
        self.dropped += gone

    def close(self) -> None:
        self._trim()
        if self.dropped:
            self.file.write(f"\n[... {self.dropped} bytes left out ...]\n".encode())
        self.file.write(self.tail)
        self.file.close()

"""Carrying a port of a network space to a Unix socket: how a container without a network reaches what it may.

Runs inside the container, with the standard library alone. It reads nothing of what it carries.
"""

from __future__ import annotations

import asyncio
import contextlib

BLOCK = 1 << 16
MOST = 256  # connections at once: an agent cannot make the first process of its container large


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass bytes on as they come; the end of one side's sending is the end of the other's receiving."""
    with contextlib.suppress(OSError):
        while data := await reader.read(BLOCK):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.write_eof()


async def listen(socket: str, port: int) -> asyncio.Server:
    """Carry 127.0.0.1:`port` to the Unix socket at the path `socket`; a connection waits while there are too many."""
    room = asyncio.Semaphore(MOST)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with room:
            try:
                there, back = await asyncio.open_unix_connection(socket)
            except OSError:
                writer.close()
                return
            try:
                await asyncio.gather(carry(reader, back), carry(there, writer))
            finally:
                back.close()
                writer.close()

    return await asyncio.start_server(connected, "127.0.0.1", port)

"""Inside a sandbox without a network: carries 127.0.0.1:PORT to the gateway's Unix socket while the agent runs.

Run as a script (`python -I -S relay.py SOCKET PORT COMMAND...`) with the standard library alone. It ends with the
command, and with its exit code (128 + n for a signal n, as a shell has it). It reads nothing of what it carries.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

BLOCK = 1 << 16
MOST = 256  # connections at once: an agent cannot make the process that carries them large


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
            except OSError as error:
                print(f"relay: the gateway is gone ({error})", file=sys.stderr)
                writer.close()
                return
            try:
                await asyncio.gather(carry(reader, back), carry(there, writer))
            finally:
                back.close()
                writer.close()

    return await asyncio.start_server(connected, "127.0.0.1", port)


async def run(socket: str, port: int, command: list[str]) -> int:
    """Listen, run the command, and return its exit code."""
    await listen(socket, port)
    agent = await asyncio.create_subprocess_exec(*command)
    code = await agent.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(asyncio.run(run(sys.argv[1], int(sys.argv[2]), sys.argv[3:])))

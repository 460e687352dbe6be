"""Reading many small files: one after another while the disk answers from memory, several at once while it does not.

A plan reads tens of thousands of manifests of 700 bytes. In the page cache that takes 5 us a file and threads only get
in each other's way; on a cold disk or a network file system each file waits for two or three answers, one after another
unless several are asked for at once. Which it is shows in how long the last few files took
(docs/design/manifest_reading.md).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

PROBE = 64  # files that are timed together
SLOW = 50e-6  # seconds a file, on average: ten times what the page cache takes, a third of a cold disk
AHEAD = 2048  # files that are then read at once, before it is looked at again
THREADS = 16  # 8 and 32 are slower, see the page


def read_files(paths: Sequence[str]) -> Iterator[bytes | None]:
    """Content of each file, in order; None for one that is not there. Raises OSError, naming the file."""
    done = 0
    while done < len(paths):
        probe = paths[done : done + PROBE]
        began = time.perf_counter()
        contents = [_read(path) for path in probe]
        slow = time.perf_counter() - began > SLOW * len(probe)
        yield from contents
        done += len(probe)
        if slow and done < len(paths):
            ahead = paths[done : done + AHEAD]
            with ThreadPoolExecutor(THREADS) as pool:
                parts = [ahead[start : start + PROBE] for start in range(0, len(ahead), PROBE)]
                fetched = list(pool.map(lambda part: [_read(path) for path in part], parts))
            for each in fetched:
                yield from each
            done += len(ahead)


def _read(path: str) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY)  # not `open`: it takes twice as long
    except FileNotFoundError:
        return None
    try:
        return os.read(handle, os.fstat(handle).st_size)
    except OSError as error:  # these do not name the file themselves (a folder in its place, a bad sector)
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        os.close(handle)

"""Removing folders: our own write-protected ones, and what an agent left."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from vvb_resources.errors import StoreError


def remove_tree(folder: Path) -> None:
    """Remove a folder whatever its permissions and depth; one that is not there is fine. Raises StoreError."""
    try:
        shutil.rmtree(folder)
        return
    except FileNotFoundError:
        if not os.path.lexists(folder):
            return
    except (OSError, RecursionError):
        pass  # write-protected, or deeper than Python's recursion and longer than a path may be: programs go on
    subprocess.run(["chmod", "-R", "u+rwX", "--", str(folder)], capture_output=True, check=False)
    done = subprocess.run(["rm", "-rf", "--one-file-system", "--", str(folder)], capture_output=True, check=False)
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise StoreError(f"cannot be removed: {message[-1] if message else ''}", where=str(folder))

"""A disk of a few hundred kilobytes for one process, so that it can be full."""

import shutil
import subprocess
from pathlib import Path

import pytest

ON_A_SMALL_DISK = 'mount -t tmpfs -o size=600k tmpfs "$1" && shift && exec "$@"'
IN_ITS_OWN_NAMESPACE = ("--user", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, "sh")


def on_a_small_disk(folder: Path, *command: str) -> str:
    """What ``command`` prints that has a disk of its own in ``folder``."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare, which makes a disk for one process")
    whole = [unshare, *IN_ITS_OWN_NAMESPACE, str(folder)]
    if subprocess.run([*whole, "true"], check=False, capture_output=True, timeout=10).returncode:  # noqa: S603 - our own program
        pytest.skip("this machine lets nobody have a disk of their own")
    return subprocess.run([*whole, *command], check=True, stdout=subprocess.PIPE, text=True, timeout=40).stdout  # noqa: S603 - our own program

"""Programs that tests run in forked processes end as those do that are started, and wait and are told as those are."""

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from tests.forked_processes import Forked, forked

SOUNDS = "import os, sys; print(sys.argv[1:], os.environ['WORD'], os.getcwd()); sys.exit(3)"
LISTENS = "import sys; print('ready', flush=True); print(sys.stdin.readline(), end='')"


def program(folder: Path, text: str) -> dict[str, str]:
    """The environment in which ``python -m program`` is ``text``."""
    (folder / "program.py").write_text(text, encoding="utf-8")
    return {"WORD": "heard"}


def test_a_forked_process_has_its_folder_arguments_and_environment_and_tells_its_status(tmp_path: Path) -> None:
    environ = program(tmp_path, SOUNDS)
    with TemporaryFile() as out:
        process = forked(tmp_path, ["program", "one", "two"], environ, out=out.fileno())
        assert [process.wait(), process.wait(), process.returncode] == [3, 3, 3]
        out.seek(0)
        assert out.read().decode() == f"['one', 'two'] heard {tmp_path}\n"


def begun(folder: Path, told: int) -> tuple[Forked, int]:
    """One that says it is ready and listens, and where it says so."""
    said, says = os.pipe()
    process = forked(folder, ["program"], program(folder, LISTENS), out=says, told=told)
    os.close(says)
    assert os.read(said, 6) == b"ready\n"
    return process, said


def test_a_forked_process_is_waited_for_no_longer_than_asked_and_hears_what_it_is_told(tmp_path: Path) -> None:
    heard, told = os.pipe()
    process, said = begun(tmp_path, heard)
    os.close(heard)
    with os.fdopen(said, "rb") as out, os.fdopen(told, "wb", buffering=0) as tell:
        for bound_s in (0, 0.01):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(bound_s)
        tell.write(b"go\n")
        assert (out.read(), process.wait()) == (b"go\n", 0)
        process.kill()


def test_a_forked_process_that_is_killed_is_told_of_as_killed(tmp_path: Path) -> None:
    heard, told = os.pipe()
    process, said = begun(tmp_path, heard)
    process.kill()
    assert process.wait() == -9
    for each in (heard, told, said):
        os.close(each)

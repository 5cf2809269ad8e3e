"""Settings of models: windows and prices by reference, and what is refused."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from config.faults import SettingsError
from config.loading import load
from config.settings import ModelSettings


def models(folder: Path, yaml: str, environ: Mapping[str, str] | None = None) -> Mapping[str, ModelSettings]:
    (folder / "switchboard.yaml").write_text(yaml, encoding="utf-8")
    return load(environ=environ or {}, directory=folder, playground=True).models


def fault(folder: Path, yaml: str, environ: Mapping[str, str] | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        models(folder, yaml, environ)
    (line,) = caught.value.faults
    return line


def test_no_price_is_built_in(tmp_path: Path) -> None:
    assert models(tmp_path, "") == {}


def test_names_may_hold_what_models_names_hold(tmp_path: Path) -> None:
    found = models(
        tmp_path,
        """
models:
  anthropic/claude-4.5: {context_tokens: 1000000, input_usd: 3, output_usd: 15.5, cache_read_usd: 0}
  offline/org/Model:8b@Q4: {included: true}
""",
    )
    assert found["anthropic/claude-4.5"] == ModelSettings(
        context_tokens=1_000_000, input_usd=3.0, output_usd=15.5, cache_read_usd=0.0
    )
    assert found["offline/org/Model:8b@Q4"] == ModelSettings(included=True)


def test_a_price_is_told_from_a_window(tmp_path: Path) -> None:
    found = models(tmp_path, "models: {offline/a: {context_tokens: 1000}, offline/b: {cache_write_usd: 0}}")
    assert (found["offline/a"].has_price, found["offline/b"].has_price) == (False, True)


@pytest.mark.parametrize(
    ("yaml", "line"),
    [
        (
            "models: {demo: {included: true}}",
            "models.demo (switchboard.yaml line 1): the name must be <provider>/<model>, for example offline/demo",
        ),
        (
            "models:\n  antropic/x: {output_usd: 1, input_usd: 1}",
            "models.antropic/x.input_usd (switchboard.yaml line 2): is of a model that names an unknown provider",
        ),
        (
            "models: {offline/x: {included: true, input_usd: 1}}",
            "models.offline/x.included (switchboard.yaml line 1): says that its tokens cost nothing, and a price",
        ),
        (
            "models: {offline/x: {input_usd: -1}}",
            "models.offline/x.input_usd (switchboard.yaml line 1): must be at least 0",
        ),
        (
            "models: {offline/x: {input_usd: cheap}}",
            "models.offline/x.input_usd (switchboard.yaml line 1): must be a number",
        ),
        (
            "models: {offline/x: {context_tokens: 10}}",
            "models.offline/x.context_tokens (switchboard.yaml line 1): must be at least 1000",
        ),
        ("models: {offline/x: {price: 1}}", "models.offline/x.price (switchboard.yaml line 1): there is no such"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_place(tmp_path: Path, yaml: str, line: str) -> None:
    assert fault(tmp_path, yaml)[: len(line)] == line


def test_a_guess_of_the_provider_is_made_even_where_nothing_else_is_left_of_the_entry(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        models(tmp_path, "models: {antropic/x: {input_usd: cheap}}")
    first, second = caught.value.faults
    assert first == "models.antropic/x.input_usd (switchboard.yaml line 1): must be a number"
    assert second.startswith("models.antropic/x: is of a model that names an unknown provider")
    assert second.endswith("did you mean anthropic?")


def test_a_variable_does_not_spell_a_models_name(tmp_path: Path) -> None:
    line = fault(tmp_path, "", {"SWITCHBOARD_MODELS__OFFLINE_DEMO__INPUT_USD": "1"})
    assert line.startswith("models.offline_demo")
    assert line.endswith("the name must be <provider>/<model>, for example offline/demo")

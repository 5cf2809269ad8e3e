"""Settings read, merged and checked: defaults < YAML file < ``.env`` < environment, with every fault at once."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as FilePath
from typing import TypeVar, cast

from pydantic import ValidationError

from config import checks
from config.faults import Fault, SettingsError, explain, path_of
from config.names import Path
from config.settings import BEARER_VARIABLE, BUILT_IN_PROVIDERS, PLAYGROUND_MODEL, TOKENS_VARIABLE, Settings
from config.sources import (
    Given,
    Variable,
    conventional_values,
    dotenv_variables,
    environment_variables,
    prefixed_values,
)
from config.yaml_file import yaml_values

__all__ = ["DEFAULT_FILE", "SettingsError", "load"]

DEFAULT_FILE = "switchboard.yaml"
_NAMES_OF_VARIABLES = frozenset({"api_key_env", "token_env", "tokens_env"})
_REAL_SLACK = {("slack", name) for name in ("bot_token", "app_token", "signing_secret", "api_url")}

Tree = dict[str, object]
Value = TypeVar("Value", Given, Variable)


def load(
    config_path: FilePath | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    directory: FilePath | None = None,
    playground: bool = False,
    slack: bool = True,
    bot: bool = True,
) -> Settings:
    """The settings of this process.

    ``config_path`` is a file that must exist; without it ``switchboard.yaml`` in ``directory`` (the working
    directory unless given) is read if it is there. The playground needs no organisation, model or tokens, and
    never sees the real workspace's tokens; without ``slack`` no tokens are needed either, and without ``bot``
    nothing that only a bot needs. Raises ``SettingsError``
    with every fault that was found.
    """
    folder = directory or FilePath.cwd()
    faults: list[Fault] = []
    from_dotenv = _sort_out(dotenv_variables(folder / ".env"), faults)
    from_environment = list(environment_variables(os.environ if environ is None else environ))
    givens = [*_built_in(playground=playground), *_sort_out(_file_values(config_path, folder), faults)]
    givens += [*conventional_values(from_dotenv), *conventional_values(from_environment)]
    keys = _key_variables(givens, (*from_dotenv, *from_environment))
    for variables in (from_dotenv, from_environment):
        givens += _sort_out(prefixed_values(variables, keys), faults)
    if playground:
        givens = [each for each in givens if each.path not in _REAL_SLACK]
    tree = _tree(givens)
    _resolve_keys(tree, {each.name: each.value for each in (*from_dotenv, *from_environment)})
    origins = {each.path: each.origin for each in givens}
    settings = _without_faulty(tree, origins, faults)
    if all(fault.path for fault in faults):
        # Beside a file that could not be read, nobody can tell what is missing.
        faults += _contradictions(settings, origins, faults, playground=playground or not bot, slack=slack)
    if faults:
        raise SettingsError(tuple(dict.fromkeys(fault.line() for fault in faults)))
    return settings


def _sort_out(found: Iterable[Value | Fault], faults: list[Fault]) -> list[Value]:
    """The values among what was found; the faults go where all faults go."""
    values: list[Value] = []
    for each in found:
        if isinstance(each, Fault):
            faults.append(each)
        else:
            values.append(each)
    return values


def _built_in(*, playground: bool) -> Iterable[Given]:
    for name, spec in BUILT_IN_PROVIDERS.items():
        for key, value in spec.items():
            yield Given(("providers", name, key), value, "built in")
    if playground:
        yield Given(("organization",), "playground", "the playground's own")
        yield Given(("defaults", "model"), PLAYGROUND_MODEL, "the playground's own")
        yield Given(("memory", "enabled"), True, "the playground's own")
        yield Given(("memory", "store"), "inprocess", "the playground's own")
        yield Given(("access", "workspace_admins"), True, "the playground's own")


def _file_values(config_path: FilePath | None, folder: FilePath) -> Iterable[Given | Fault]:
    file = config_path or folder / DEFAULT_FILE
    if config_path is None and not file.exists():
        return ()
    return yaml_values(file, str(config_path) if config_path else DEFAULT_FILE)


def _tree(givens: Iterable[Given]) -> Tree:
    """The values in their places; of two for the same setting the later one stays."""
    tree: Tree = {}
    for each in givens:
        _section(tree, each.path[:-1])[each.path[-1]] = each.value
    return tree


def _section(tree: Tree, path: Path) -> Tree:
    section = tree
    for name in path:
        section = cast("Tree", section.setdefault(name, {}))
    return section


def _resolve_keys(tree: Tree, variables: Mapping[str, str]) -> None:
    """Put the secret each ``…_env`` leads to beside it, unless one was given directly."""
    providers = cast("dict[str, Tree]", tree["providers"])
    for provider in providers.values():
        key = variables.get(str(provider.get("api_key_env")))
        if key is not None:
            provider.setdefault("api_key", key)
    worker = cast("dict[str, Tree]", tree.get("memory", {})).get("worker", {})
    token = variables.get(str(worker.get("token_env", BEARER_VARIABLE)))
    if token is not None:
        _section(tree, ("memory", "worker")).setdefault("token", token)
    tokens = variables.get(str(cast("Tree", tree.get("http", {})).get("tokens_env", TOKENS_VARIABLE)))
    if tokens is not None:
        _section(tree, ("http",)).setdefault("tokens", tokens)


def _key_variables(givens: Iterable[Given], variables: Iterable[Variable]) -> frozenset[str]:
    """Names of variables that hold a secret, so that they may begin with ``SWITCHBOARD_``, too."""
    named = {str(each.value) for each in givens if each.path[-1] in _NAMES_OF_VARIABLES}
    endings = tuple(f"__{name.upper()}" for name in _NAMES_OF_VARIABLES)
    return frozenset({TOKENS_VARIABLE, *named, *(each.value for each in variables if each.name.endswith(endings))})


def _contradictions(
    settings: Settings, origins: Mapping[Path, str], faults: Sequence[Fault], *, playground: bool, slack: bool
) -> list[Fault]:
    agents = {path[1] for path in origins if path[0] == "agents"}
    providers = {path[1] for path in origins if path[0] == "providers"}
    findings = list(checks.references(settings, agents, providers))
    if not playground:
        findings += checks.requirements(settings, slack=slack)
    known = {fault.path for fault in faults}
    return [Fault(path, origins.get(path), text) for path, text in findings if path not in known]


def _without_faulty(tree: Tree, origins: Mapping[Path, str], faults: list[Fault]) -> Settings:
    """The settings the faultless part of ``tree`` makes, so that it can still be checked."""
    while True:
        try:
            return Settings.model_validate(tree)
        except ValidationError as error:
            for each in error.errors(include_url=False, include_input=False):
                path = path_of(each)
                if path not in {fault.path for fault in faults}:
                    faults.append(Fault(path, _origin(path, origins), explain(each)))
                _remove(tree, path[:-1] if each["type"] == "missing" else path)


def _origin(path: Path, origins: Mapping[Path, str]) -> str | None:
    """Where ``path`` was given or, for a missing setting, where its section was."""
    if path in origins:
        return origins[path]
    beside: Sequence[str] = [origin for each, origin in origins.items() if each[: len(path) - 1] == path[:-1]]
    return beside[0] if beside and len(path) > 1 else None


def _remove(tree: Tree, path: Path) -> None:
    """Take away what stands at ``path``, or the setting whose value reaches down to it.

    A path may go on below its setting: pydantic adds which of several kinds of value was tried.
    """
    section, name = tree, path[0]
    for step in path[1:]:
        inner = section.get(name)
        if not isinstance(inner, dict) or step not in inner:
            break
        section, name = cast("Tree", inner), step
    section.pop(name, None)

"""Prints the files of the modules that must be pure, for the coverage gate; their list is the import contract's."""

import sys
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).parent.parent
CONTRACT = "importlinter:contract:pure"


def pure_files(root: Path = ROOT) -> list[str]:
    """Relative paths, in the contract's order."""
    contracts = ConfigParser()
    contracts.read(root / ".importlinter")
    modules = contracts[CONTRACT]["source_modules"].split()
    return [f"{module.replace('.', '/')}.py" for module in modules]


if __name__ == "__main__":
    sys.stdout.write(",".join(pure_files()))

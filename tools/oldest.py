"""The lowest versions that a pyproject.toml allows, as requirements for pip.

    python -m tools.oldest pyproject.toml optuna sklearn     the core's and those of two extras

"numpy>=1.26" becomes "numpy==1.26". PyTorch is left as it is: the Makefile installs one version
everywhere, because other builds of it bring gigabytes.
"""

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

_BOUND = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[[\w,-]+\])?(?:>=(?P<lowest>[\w.]+))?")
_OWN = ("ceibo", "ceibo-lab")
_AS_INSTALLED = ("torch",)


def oldest(requirements: list[str]) -> Iterator[str]:
    """Requirements of the form "name>=version", each at that version."""
    for requirement in requirements:
        bound = _BOUND.fullmatch(requirement)
        if bound is None:
            raise SystemExit(f"{requirement!r} is not of the form name[extras]>=version")
        if bound["name"] in (*_OWN, *_AS_INSTALLED):
            continue
        if bound["lowest"] is None:
            raise SystemExit(f"{requirement!r} has no lowest version")
        yield f"{bound['name']}{bound['extras'] or ''}=={bound['lowest']}"


def main(arguments: list[str]) -> None:
    """Prints one requirement on each line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pyproject", type=Path)
    parser.add_argument("extras", nargs="*", help="extras beside the dependencies")
    options = parser.parse_args(arguments)
    project = tomllib.loads(options.pyproject.read_text(encoding="utf-8"))["project"]
    print(*oldest(project["dependencies"]), sep="\n")
    for extra in options.extras:
        print(*oldest(project["optional-dependencies"][extra]), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])

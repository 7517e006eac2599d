"""The versions installed here, as constraints for pip: `make constraints` writes constraints.txt.

    python -m tools.constraints > constraints.txt

Only names and versions, no addresses. pip, setuptools and ceibo's own distributions are left out,
and so is the part of a version that names a build ("2.13.0+cpu").
"""

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions

_LEFT_OUT = frozenset({"ceibo", "ceibo-lab", "pip", "setuptools", "wheel"})
_HEADER = """\
# Versions that are known to work together: what the checks of ceibo run with.
# `make constraints` renews them. Users of ceibo need none of them: pyproject.toml has lower bounds.
"""


def normal(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def constraints(installed: Iterable[Distribution]) -> dict[str, str]:
    """Name -> version of the distributions, in order of name."""
    found = {normal(each.metadata["Name"]): each.version.split("+")[0] for each in installed}
    return {name: found[name] for name in sorted(found) if name not in _LEFT_OUT}


def main() -> int:
    lines = [f"{name}=={version}" for name, version in constraints(distributions()).items()]
    sys.stdout.write(_HEADER + "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

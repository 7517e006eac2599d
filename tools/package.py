"""Builds wheel and sdist of both distributions and tries them in an empty environment.

    python -m tools.package [--dist FOLDER]        needs the packages build and twine

Builds each wheel from its sdist, checks the metadata and the contents, prints the sizes, installs
both wheels into a new virtual environment, and runs README's blocks there.
"""

import argparse
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Each distribution: its folder, and files that its wheel and its sdist must have.
DISTRIBUTIONS = {
    "ceibo": (ROOT, ("ceibo/py.typed", "ceibo/report/page.css", "ceibo/report/page.js", "LICENSE")),
    "ceibo_lab": (ROOT / "lab", ("ceibo_lab/py.typed", "problems/data/svm.npz", "LICENSE")),
}
# What an sdist may have at its top, beside the sources.
TOP = {"src", "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
LARGEST = 1_000_000  # bytes of a wheel or an sdist; the records in results/ alone are 17 MB


def main(arguments: list[str]) -> None:
    """Ends with an error where a check fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="folder to build into")
    dist = parser.parse_args(arguments).dist.resolve()
    dist.mkdir(parents=True, exist_ok=True)
    for old in (*dist.glob("*.whl"), *dist.glob("*.tar.gz")):
        old.unlink()
    for folder, _ in DISTRIBUTIONS.values():
        run(sys.executable, "-m", "build", "--outdir", dist, folder)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(dist.iterdir()))
    wheels = []
    for name, (_, expected) in DISTRIBUTIONS.items():
        (wheel,) = dist.glob(f"{name}-*.whl")
        (sdist,) = dist.glob(f"{name}-*.tar.gz")
        with zipfile.ZipFile(wheel) as zipped, tarfile.open(sdist) as packed:
            check(wheel, zipped.namelist(), expected)
            check(sdist, packed.getnames(), expected)
            tops = {path.split("/")[1] for path in packed.getnames() if "/" in path}
            if strange := tops - TOP - {".gitignore"}:  # hatch always adds .gitignore
                raise SystemExit(f"{sdist.name} has {sorted(strange)}, which is not to be shipped")
        wheels.append(wheel)
    versions = {wheel.name.split("-")[1] for wheel in wheels}
    if len(versions) > 1:
        raise SystemExit(f"the two distributions have different versions: {sorted(versions)}")
    with tempfile.TemporaryDirectory(prefix="ceibo-package-") as temporary:
        try_wheels(wheels, Path(temporary))


def check(file: Path, names: list[str], expected: tuple[str, ...]) -> None:
    """Compares size and contents of a file with what they are to be."""
    size = file.stat().st_size
    print(f"{file.name}: {size / 1000:.0f} kB, {len(names)} files", flush=True)
    if size > LARGEST:
        raise SystemExit(f"{file.name} is larger than {LARGEST / 1000:.0f} kB")
    for name in expected:
        if not any(path.endswith(name) for path in names):
            raise SystemExit(f"{file.name} lacks {name}")


def try_wheels(wheels: list[Path], folder: Path) -> None:
    """Runs README's blocks with the wheels, in an environment with nothing else but pytest."""
    venv.create(folder / "env", with_pip=True)
    scripts = folder / "env" / ("Scripts" if sys.platform == "win32" else "bin")
    python = scripts / "python"
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(python, *install, *wheels, "pytest", "hypothesis")
    where = "import ceibo, ceibo_lab; print(ceibo.__file__, ceibo_lab.__file__, sep='\\n')"
    found = subprocess.run(
        [python, "-c", where], cwd=folder, check=True, capture_output=True, text=True
    )
    for line in found.stdout.splitlines():
        if not Path(line).resolve().is_relative_to(folder.resolve()):
            raise SystemExit(f"{line} was imported, not the wheel")
    run(scripts / "ceibo", "--version", cwd=folder)
    run(scripts / "ceibo", "paper", "list", cwd=folder)
    tests = ("tests/test_documents.py", "tests/docs/test_docs_blocks.py")
    run(python, "-m", "pytest", "--only-installed", "-k", "readme", *tests)


def run(*command: object, cwd: Path = ROOT) -> None:
    """Runs a command and ends this one where it fails."""
    print("$", *command, flush=True)
    status = subprocess.run([str(word) for word in command], cwd=cwd).returncode
    if status:
        raise SystemExit(f"status {status}: {' '.join(map(str, command))}")


if __name__ == "__main__":
    main(sys.argv[1:])

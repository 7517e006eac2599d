"""CONTRIBUTING.md's recipes, followed literally.

The code blocks of a recipe are read from the page and become the modules of a package outside of
ceibo, whose entry points are those of the recipe. What it adds is then used by name in processes of
their own, which leaves the names known here as they are.
"""

import os
import re
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "CONTRIBUTING.md"
BLOCK = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.M | re.S)


@dataclass(frozen=True)
class Recipe:
    """A section of CONTRIBUTING.md."""

    title: str

    def block(self, language: str) -> str:
        """Its one code block in a language."""
        text = PAGE.read_text(encoding="utf-8").split(f"\n## {self.title}\n")[1].split("\n## ")[0]
        (found,) = [body for _, name, body in BLOCK.findall(text) if name == language]
        return str(found)


def install(recipe: Recipe, folder: Path) -> None:
    """Puts the recipe's code and entry points into `folder`, as pip would."""
    groups = tomllib.loads(recipe.block("toml"))["project"]["entry-points"]
    information = folder / "my_package-1.0.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {module}" for name, module in points.items())]
        for module in points.values():
            path = folder.joinpath(*module.split(".")).with_suffix(".py")
            path.parent.mkdir(exist_ok=True)
            path.write_text(recipe.block("python"), encoding="utf-8")
    (information / "entry_points.txt").write_text("\n".join(lines))


def run(code: str, *folders: Path) -> str:
    """What a new process prints that runs the code with these folders in its path."""
    path = os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "error:::ceibo", "-c", code],
        env=os.environ | {"PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# kernels and acquisition functions

KERNEL = Recipe("Add a kernel")
ACQUISITION = Recipe("Add an acquisition function")
OPTIONS = {KERNEL: 'kernel="rational-quadratic"', ACQUISITION: 'acquisition="uncertainty"'}
by_recipe = pytest.mark.parametrize("recipe", OPTIONS, ids=lambda recipe: recipe.title)

CREATE = """
import ceibo
space = {{"x": ceibo.Float(0, 1), "k": ceibo.Int(1, 5)}}
study = ceibo.Study.create(space, storage={url!r}, name="s", seed=1, n_initial=3, {options})
"""
GO_ON = """
for _ in range(5):
    trial = study.ask()
    study.tell(trial, (trial.params["x"] - 0.3) ** 2 + 0.1 * trial.params["k"], noise=0.05)
study.ask()
found = study.verify()
assert found.ok, found
record = study.suggestions[5]
print(record["source"], record["kernel"], record["acquisition"], study.recommended.mean < 1)
"""
OPEN = """
import ceibo
study = ceibo.Study.open({url!r}, "s")
"""
RECORDED = {
    KERNEL: "model RationalQuadratic noisy-ei True\n",
    ACQUISITION: "model Matern52 uncertainty True\n",
}


@by_recipe
def test_an_installed_package_is_found_by_name_in_every_process(
    recipe: Recipe, tmp_path: Path
) -> None:
    package, url = tmp_path / "site", f"sqlite:///{tmp_path / 's.db'}"
    install(recipe, package)
    create = CREATE.format(url=url, options=OPTIONS[recipe])
    assert run(create + GO_ON, package) == RECORDED[recipe]
    assert run(OPEN.format(url=url) + GO_ON, package) == RECORDED[recipe]


@by_recipe
def test_what_was_registered_in_this_process_is_known_by_name(recipe: Recipe) -> None:
    create = CREATE.format(url="sqlite://", options=OPTIONS[recipe])
    assert run(recipe.block("python") + create + GO_ON) == RECORDED[recipe]


@by_recipe
def test_without_the_package_the_message_says_what_to_do(recipe: Recipe, tmp_path: Path) -> None:
    code = f"""
import ceibo
try:
    ceibo.Study.create({{"x": ceibo.Float(0, 1)}}, {OPTIONS[recipe]})
except ceibo.InputError as error:
    print(error)
"""
    name = OPTIONS[recipe].split('"')[1]
    assert f"got '{name}'. If a package adds it, install or import" in run(code, tmp_path)


def test_installed_names_are_among_those_listed(tmp_path: Path) -> None:
    install(KERNEL, tmp_path)
    code = """
import ceibo, numpy as np
try:
    ceibo.gp.fit_gp(np.eye(2), [0.0, 1.0], kernel="rbf")
except ceibo.InputError as error:
    print(error)
"""
    assert "squared-exponential, rational-quadratic, got 'rbf'." in run(code, tmp_path)


def test_the_kernel_of_the_recipe_has_the_slope_it_says() -> None:
    code = """
import numpy as np
s = np.linspace(0.0, 9.0, 50)
g, slope = RationalQuadratic.profile(s)
up, down = (RationalQuadratic.profile(s + h)[0] for h in (1e-5, -1e-5))
np.testing.assert_allclose(slope, (up - down) / 2e-5, rtol=1e-8)
assert g[0] == 1.0
"""
    run(KERNEL.block("python") + code)


def test_the_acquisition_of_the_recipe_has_the_gradients_it_says() -> None:
    code = """
from ceibo import acquisition
from ceibo.gp import GaussianProcess, Matern52
X = np.random.default_rng(0).random((5, 2))
acq = acquisition.build("uncertainty", GaussianProcess(X, X[:, 0], 0.1, Matern52([0.4, 0.7], 3.0)))
x, steps = np.array([0.35, 0.6]), 1e-5 * np.eye(2)
for values, both in (
    (acq.value, acq.value_and_gradient),
    (acq.log_value, acq.log_value_and_gradient),
):
    numeric = (values(x + steps) - values(x - steps)) / 2e-5
    np.testing.assert_allclose(both(x[None])[1][0], numeric, rtol=1e-6)
np.testing.assert_allclose(acq.value(X) ** 2, acq.gp.posterior(X)[1], rtol=1e-12)
assert acquisition.ACQUISITIONS["uncertainty"].label == "uncertainty"
"""
    run(ACQUISITION.block("python") + code)

"""Thirty studies whose reports are hard to draw: few trials, many, long names, extreme numbers."""

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

import ceibo
from ceibo import AtLeast, AtMost, Categorical, Float, Int, Maximize, Measurement, Minimize, Watch

SOLVENTS: Final = ("toluene", "1,4-dioxane", "MeCN", "EtOH", "2-MeTHF", "water", "DMF", "THF")
CATALYSTS: Final = (
    *("Pd(PPh3)4", "Pd(dppf)Cl2·CH2Cl2", "XPhos Pd G3", "SPhos Pd G3", "PEPPSI-IPr"),
    *("RuPhos Pd G4", "BrettPhos Pd G3", "[Pd(allyl)Cl]2 + P(t-Bu)3·HBF4", "CataCXium A Pd G3"),
    *("NiCl2(dme) + dtbbpy", "Pd/C 10 wt%, wet, Degussa type", "none"),
)
PLANE: Final = {"x": Float(0, 1), "y": Float(0, 1)}

Value = float | Measurement | dict[str, Any]


def bowl(params: dict[str, Any]) -> float:
    """A smooth function of any parameters, smallest in the middle."""
    total = 0.0
    for place, value in enumerate(params.values()):
        number = value if isinstance(value, int | float) else len(str(value)) / 10
        total += (math.atan(number) - 0.4 - 0.1 * place) ** 2
    return total


def _told(study: ceibo.Study, values: Iterable[Value]) -> ceibo.Study:
    for value in values:
        study.tell(study.ask(), value)
    return study


def _measured(
    space: dict[str, Any] | ceibo.Space,
    count: int,
    f: Callable[[dict[str, Any]], Value] = bowl,
    **options: Any,
) -> ceibo.Study:
    study = ceibo.Study.create(space, **{"seed": 0, **options})
    for _ in range(count):
        trial = study.ask()
        value = f(trial.params)
        if isinstance(value, dict):
            value = {name: each for name, each in value.items() if name in options["outcomes"]}
        study.tell(trial, value)
    return study


def nothing() -> ceibo.Study:
    return ceibo.Study.create(PLANE, name="nothing measured")


def one_trial() -> ceibo.Study:
    return _told(ceibo.Study.create({"x": Float(0, 1)}, seed=0), [0.7])


def two_equal() -> ceibo.Study:
    return _told(ceibo.Study.create(PLANE, seed=0), [3.0, 3.0])


def all_failed() -> ceibo.Study:
    study = ceibo.Study.create(PLANE, seed=0)
    for _ in range(5):
        study.fail(study.ask(), "the pump stopped: " + "E-4711 " * 60)
    return study


def one_measured_many_failed() -> ceibo.Study:
    study = ceibo.Study.create(PLANE, seed=0)
    study.tell(study.ask(), 1.0)
    for _ in range(12):
        study.fail(study.ask(), "leak")
    return study


def falling_far() -> ceibo.Study:
    """The first values are far from the later ones."""
    values = [2, 60, 80, 85, 88, 90, 91, 90, 92, 91, 92, 93, 92, 91]
    return _told(ceibo.Study.create({"x": Float(0, 1)}, direction="maximize", seed=0), values)


def batches() -> ceibo.Study:
    """Batches of eight, all asked before any of their results, one of which is under way."""
    study = ceibo.Study.create(
        {"x": Float(0, 1), "solvent": Categorical(SOLVENTS)}, direction="maximize", seed=0
    )
    for x in (0.0, 0.05):
        study.add({"x": x, "solvent": "water"}, 90 - 200 * (x - 0.5) ** 2, noise=1)
    for _ in range(2):
        for trial in study.ask(8):
            study.tell(trial, 90 - 200 * (trial.params["x"] - 0.5) ** 2, noise=1)
    study.ask(8)
    return study


def withdrawn() -> ceibo.Study:
    study = _measured({"x": Float(0, 1)}, 8, lambda p: Measurement(bowl(p), noise=0.1))
    for trial in study.ask(5):
        study.withdraw(trial)
    study.ask(3)
    return study


def replicates() -> ceibo.Study:
    """Triplicates, told together and one by one, and a correction."""
    rng = np.random.default_rng(0)

    def triplicate(params: dict[str, Any]) -> Measurement:
        return Measurement.of(bowl(params) + 0.2 * rng.standard_normal(3))

    study = _measured(PLANE, 9, triplicate)
    trial = study.ask()
    for key in ("a", "b", "c"):
        study.tell(trial, bowl(trial.params) + 0.2 * rng.standard_normal(), key=key)
    return study


def many_choices() -> ceibo.Study:
    space = {
        "catalyst": Categorical(CATALYSTS),
        "solvent": Categorical(SOLVENTS),
        "Temperature (°C)": Float(20, 120),
    }
    return _measured(space, 26, lambda p: 100 * bowl(p), direction="maximize", name="suzuki")


def two_choices_only() -> ceibo.Study:
    space = {"catalyst": Categorical(CATALYSTS), "solvent": Categorical(SOLVENTS)}
    return _measured(space, 20)


def levels() -> ceibo.Study:
    space = {
        "hours": ceibo.Ordinal([1, 2, 4, 8, 24]),
        "grade": ceibo.Ordinal(["technical", "reagent", "analytical", "HPLC gradient"]),
        "plates": Int(1, 4),
    }
    return _measured(space, 14)


def mixture() -> ceibo.Study:
    """Three parts that sum to one, in branches."""
    space = ceibo.Space(
        {
            "a": Float(0, 0.6),
            "b": Float(0, 1),
            "water content (w/w)": Float(0, 1),
            "solvent": Categorical(SOLVENTS[:3]),
            "drops": Int(1, 9, when={"solvent": "MeCN"}),
        },
        constraints=["a + b + `water content (w/w)` == 1"],
    )
    return _measured(space, 14)


def log_ranges() -> ceibo.Study:
    space = {"rate": Float(1e-9, 1e3, log=True), "decay": Float(0.3, 2.1, log=True)}
    return _measured(space, 16, lambda p: 1e-3 + math.log10(p["rate"] * p["decay"]) ** 2)


def maximised() -> ceibo.Study:
    space = {"x": Float(0, 1), "y": Float(0, 1), "solvent": Categorical(SOLVENTS[:3])}
    return _measured(space, 20, lambda p: 96 - 40 * bowl(p), direction="maximize")


def many_trials() -> ceibo.Study:
    """Ten thousand trials, as imported from a table."""
    rng = np.random.default_rng(0)
    study = ceibo.Study.create(PLANE, seed=0)
    rows = [
        ({"x": float(x), "y": float(y)}, Measurement(float(x * y + 0.1 * e), noise=0.1))
        for x, y, e in zip(*rng.random((2, 10_000)), rng.standard_normal(10_000), strict=True)
    ]
    study.add_all(rows)
    return study


def many_parameters() -> ceibo.Study:
    space = {f"parameter number {k} of the many": Float(0, float(f"1e{k}")) for k in range(30)}
    return _measured(space, 12, n_initial=12)


def huge() -> ceibo.Study:
    return _measured(PLANE, 12, lambda p: 1e300 * (bowl(p) - 0.3))


def tiny() -> ceibo.Study:
    return _measured(PLANE, 12, lambda p: 1e-300 * (bowl(p) - 0.3))


def offset() -> ceibo.Study:
    """Values that differ in the eighth digit."""
    return _measured(PLANE, 12, lambda p: 123456.0 + 1e-3 * bowl(p))


def outliers() -> ceibo.Study:
    values = [1.0, 1.2, -1e6, 0.9, 1.1, 1.3, 1e9, 0.8, 1.0, 0.95, 1.05, 0.7]
    return _told(ceibo.Study.create(PLANE, seed=0), values)


def wide_noise() -> ceibo.Study:
    return _measured(PLANE, 12, lambda p: Measurement(bowl(p), noise=1e3))


def exact() -> ceibo.Study:
    return _measured(PLANE, 12, lambda p: Measurement(bowl(p), noise=0.0))


def hostile_names() -> ceibo.Study:
    space = {
        "</style><script>x</script>": Float(0, 1),
        "W" * 150: Float(-1e9, 1e9),
        "日本語の非常に長い変数名前" * 4: Int(-(10**11), 10**11),
        "choice": Categorical(["W" * 400, "W" * 399 + "i", "", "1", "1.0"]),
    }
    return _measured(space, 14, name="W" * 200)


def truth_values() -> ceibo.Study:
    return _measured({"on": Categorical([True, False]), "n": Int(1, 3)}, 6)


def limited() -> ceibo.Study:
    outcomes = {
        "yield": Maximize(unit="%", low=0, high=100),
        "impurity": AtMost(2.0, unit="% (a/a) at 254 nm"),
        "colour": Watch(),
    }
    space = {"temp": Float(20, 90), "solvent": Categorical(SOLVENTS)}
    return _measured(space, 18, _reaction, outcomes=outcomes)


def never_in_spec() -> ceibo.Study:
    outcomes = {"yield": Maximize(unit="%"), "impurity": AtMost(1e-6), "colour": AtLeast(1e9)}
    return _measured({"temp": Float(20, 90)}, 8, _reaction, outcomes=outcomes)


def half_told() -> ceibo.Study:
    study = ceibo.Study.create(PLANE, outcomes={"a": Minimize(), "b": AtMost(1)}, seed=0)
    for _ in range(4):
        study.tell(study.ask(), {"a": 1.0})
    return study


def front_of_two() -> ceibo.Study:
    outcomes = {"yield": Maximize(unit="%"), "cost": Minimize(unit="EUR"), "impurity": AtMost(3)}
    space = {"temp": Float(20, 90), "solvent": Categorical(SOLVENTS[:4])}
    return _measured(space, 18, _reaction, outcomes=outcomes)


def front_of_three() -> ceibo.Study:
    outcomes = {"yield": Maximize(), "cost": Minimize(), "impurity": Minimize(unit="%")}
    return _measured({"temp": Float(20, 90)}, 14, _reaction, outcomes=outcomes)


def long_outcome_names() -> ceibo.Study:
    name = "space-time yield of the isolated and dried product"
    outcomes = {name: Maximize(unit="kg m⁻³ h⁻¹"), "impurity": AtMost(2.0)}

    def f(params: dict[str, Any]) -> dict[str, Any]:
        found = _reaction(params)
        return {name: 1e7 * found["yield"], "impurity": found["impurity"]}

    return _measured({"temp": Float(20, 90), "x": Float(0, 1)}, 12, f, outcomes=outcomes)


def _reaction(params: dict[str, Any]) -> dict[str, Any]:
    temp = params["temp"]
    return {
        "yield": 92 - ((temp - 62) / 16) ** 2 * 12,
        "impurity": 0.4 + 0.035 * max(temp - 38, 0),
        "cost": 4 + 0.05 * temp,
        "colour": temp / 90,
    }


STUDIES: Final[dict[str, Callable[[], ceibo.Study]]] = {
    each.__name__: each
    for each in (
        *(nothing, one_trial, two_equal, all_failed, one_measured_many_failed, falling_far),
        *(batches, withdrawn, replicates, many_choices, two_choices_only, levels, mixture),
        *(
            log_ranges,
            maximised,
            many_trials,
            many_parameters,
            huge,
            tiny,
            offset,
            outliers,
            wide_noise,
        ),
        *(exact, hostile_names, truth_values, limited, never_in_spec, half_told, front_of_two),
        *(front_of_three, long_outcome_names),
    )
}

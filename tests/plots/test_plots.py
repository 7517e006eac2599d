"""The plots: on odd studies without a warning, on axes given, and with the model's numbers."""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import ceibo
from ceibo import plots
from ceibo.decide.direction import DirectionLike
from ceibo.decide.leave_one_out import leave_one_out
from ceibo.errors import InputError, NoMeasurementError
from tests.odd import ODD, odd_study

# Of one objective, with something to draw.
SINGLE = [name for name in ODD if name not in ("nothing", "half_told", "limited", "front_of_two")]
Plot = Callable[..., Any]
PLOTS: list[Plot] = [
    plots.progress,
    plots.slices,
    plots.contour,
    plots.importance,
    plots.parity,
    plots.front,
]


@pytest.fixture(autouse=True)
def _quietly() -> Iterator[None]:
    """Figures are drawn nowhere and closed; a warning is an error, but for letters of a font."""
    mpl.use("agg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Glyph")
        yield
    pyplot.close("all")


def axes() -> Axes:
    return Figure(figsize=(4, 3), dpi=40).add_subplot()


def drawn(ax: Axes) -> Axes:
    """The axes, drawn, which is when most goes wrong."""
    figure = ax.figure
    assert isinstance(figure, Figure)
    figure.set_dpi(40)
    figure.canvas.draw()
    return ax


def bowl(direction: DirectionLike = "minimize") -> ceibo.Study:
    study = ceibo.Study.create(
        {"x": ceibo.Float(0, 4), "y": ceibo.Float(0, 1)}, direction=direction
    )
    rng = np.random.default_rng(1)
    for x, y in rng.random((12, 2)):
        value = (4 * x - 1) ** 2 + 0.2 * y
        study.add({"x": 4 * x, "y": y}, value if direction == "minimize" else -value, noise=0.05)
    return study


@pytest.mark.parametrize("name", SINGLE)
def test_every_plot_of_an_odd_study(name: str) -> None:
    study = odd_study(name)
    drawn(plots.progress(study, ax=axes()))
    drawn(plots.importance(study, ax=axes()))
    drawn(plots.parity(study, ax=axes()))
    for ax in plots.slices(study)[-1:]:
        drawn(ax)
    if len(study.space) > 1:
        drawn(plots.contour(study, ax=axes()))
    else:
        with pytest.raises(InputError, match="no two such"):
            plots.contour(study)
    with pytest.raises(InputError, match="front is that of several goals"):
        plots.front(study)


@pytest.mark.parametrize("name", ["limited", "front_of_two"])
def test_every_plot_of_several_outcomes(name: str) -> None:
    study = odd_study(name)
    assert study.outcomes is not None
    for outcome in study.outcomes:
        drawn(plots.progress(study, outcome=outcome, ax=axes()))
        drawn(plots.parity(study, outcome=outcome, ax=axes()))
    drawn(plots.slices(study, outcome="impurity")[0])
    plots.contour(study, of="std", ax=axes())
    drawn(plots.contour(study, of="chance", ax=axes()))
    if name == "front_of_two":
        ax = drawn(plots.front(study, ["cost", "yield"], ax=axes()))
        assert ax.get_xlabel() == "cost (EUR) ←"
        assert ax.get_ylabel() == "yield (%) →"
        with pytest.raises(InputError, match="two of yield, cost"):
            plots.front(study, ["yield", "impurity"])


@pytest.mark.parametrize("plot", PLOTS)
def test_nothing_measured_is_said(plot: Plot) -> None:
    for name in ("nothing", "all_failed", "half_told"):
        with pytest.raises((NoMeasurementError, InputError)):
            plot(odd_study(name))
    with pytest.raises(
        InputError, match=r"expected a study or a result to draw, got 3; .* to_study"
    ):
        plot(3)


def test_plots_draw_on_the_axes_given_and_return_them() -> None:
    study = bowl()
    for plot in (plots.progress, plots.contour, plots.importance, plots.parity):
        ax = axes()
        assert plot(study, ax=ax) is ax
    given = Figure().subplots(1, 3)
    assert plots.slices(study, axes=given) == list(given[:2])
    with pytest.raises(InputError, match="axes: expected 2, one for each parameter, got 1"):
        plots.slices(study, axes=[axes()])
    assert not pyplot.get_fignums()


def test_new_axes_are_those_of_a_figure_of_pyplot_and_settings_stay() -> None:
    before = dict(mpl.rcParams)
    ax = plots.progress(bowl())
    assert pyplot.get_fignums() == [getattr(ax.figure, "number", None)]
    assert dict(mpl.rcParams) == before


def test_a_result_is_drawn_like_its_study() -> None:
    result = ceibo.minimize(lambda p: (p["x"] - 0.3) ** 2, {"x": ceibo.Float(0, 1)}, n_trials=4)
    assert plots.progress(result, ax=axes()).get_xlim() == (-0.5, 4.5)


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_slices_show_the_model_in_the_users_units_and_direction(direction: DirectionLike) -> None:
    study = bowl(direction)
    (ax,) = plots.slices(study, ["x"], axes=[axes()])
    curve = max(ax.lines, key=lambda line: len(np.asarray(line.get_xdata())))
    x, y = (np.asarray(each, dtype=float) for each in (curve.get_xdata(), curve.get_ydata()))
    assert (x[0], x[-1]) == (0.0, 4.0)
    others = study.best.params["y"]
    expected = [each.mean for each in study.predict([{"x": at, "y": others} for at in x[::20]])]
    np.testing.assert_allclose(y[::20], expected, rtol=1e-6, atol=1e-9)


def test_slices_show_measurements_without_the_effects_of_their_blocks() -> None:
    outcomes = {"yield": ceibo.Maximize(), "waste": ceibo.Watch()}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes)
    for number in range(12):
        x, day = number / 11, number % 2
        told = {
            "yield": ceibo.Measurement(x + 100 * day, noise=0.1, block={"day": day, "plate": 0}),
            "waste": ceibo.Measurement(x, noise=0.1),
        }
        study.add({"x": x}, told)
    blocks = study.blocks
    assert isinstance(blocks, dict)
    effect = {each.label: each.mean for each in blocks["yield"].by_kind["day"]}
    (plate,) = blocks["yield"].by_kind["plate"]
    assert effect["1"] - effect["0"] == pytest.approx(100, abs=1)
    for name in outcomes:
        (ax,) = plots.slices(study, ["x"], outcome=name, axes=[axes()])
        dots = np.asarray(ax.collections[0].get_offsets())
        for number, (x, y) in enumerate(sorted(dots.tolist())):
            freed = number / 11
            if name == "yield":
                freed += 100 * (number % 2) - effect[str(number % 2)] - plate.mean
            assert (x, y) == pytest.approx((number / 11, freed))


def test_a_contour_is_dark_where_it_is_good() -> None:
    for direction in ("minimize", "maximize"):
        ax = plots.contour(bowl(direction), ["x", "y"], ax=axes())
        colours = ax.collections[0]
        low, high = colours.get_clim()
        best = low if direction == "minimize" else high
        red, green, blue, _ = colours.to_rgba(np.array([best]))[0]
        assert red + green + blue < 1.0
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")


def test_a_contour_is_over_two_different_parameters() -> None:
    study = bowl()
    for wrong in (["x"], ["x", "x"], "xy"):
        with pytest.raises(InputError, match="params"):
            plots.contour(study, wrong)
    with pytest.raises(InputError, match="of must be 'mean', 'std' or 'chance', got 'median'"):
        plots.contour(study, of="median")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(InputError, match="has no limits"):
        plots.contour(study, of="chance")


def test_what_cannot_be_drawn_leaves_no_empty_figure() -> None:
    with pytest.raises(InputError, match="no limits"):
        plots.contour(bowl(), of="chance")
    assert not pyplot.get_fignums()


def test_a_parameter_that_does_not_exist_in_the_picture_is_refused() -> None:
    """A slice along it would be flat, as if it did not matter."""
    space = {
        "kind": ceibo.Categorical(["sgd", "adam"]),
        "momentum": ceibo.Float(0, 1, when={"kind": "sgd"}),
        "beta": ceibo.Float(0, 1, when={"kind": "adam"}),
    }
    study = ceibo.Study.create(space)
    for x in (0.1, 0.5, 0.9):
        study.add({"kind": "sgd", "momentum": x}, x**2, noise=0.01)
        study.add({"kind": "adam", "beta": x}, 1 + x, noise=0.01)
    first = plots.slices(study)[0].figure
    assert isinstance(first, Figure)
    assert first.get_supxlabel() == "Not drawn: beta (exists where kind is 'adam')"
    asked = plots.slices(study, ["momentum", "kind"])[0].figure
    assert isinstance(asked, Figure)
    assert not asked.get_supxlabel()
    plots.contour(study, ["kind", "beta"])
    pyplot.close("all")
    for plot in (
        lambda: plots.slices(study, ["beta"]),
        lambda: plots.contour(study, ["momentum", "beta"]),
    ):
        with pytest.raises(InputError, match="'beta' exists only where kind is 'adam'"):
            plot()
    assert not pyplot.get_fignums()


def test_the_best_raw_value_holds_the_limits_as_best_observed_does() -> None:
    outcomes = {"gain": ceibo.Maximize(), "heat": ceibo.AtMost(1.0)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes)
    for x in (0.1, 0.9, 0.3, 0.7, 0.4):
        study.add({"x": x}, {"gain": 10 * x, "heat": 2 * x})
    ax = plots.progress(study, ax=axes())
    line = next(each for each in ax.lines if each.get_label() == "best raw value")
    assert list(np.asarray(line.get_xdata(), dtype=float)) == [0, 2, 4]
    assert list(np.asarray(line.get_ydata(), dtype=float)) == [1, 3, study.best_observed.value]


def names_of(ax: Axes) -> list[str]:
    return ax.get_legend_handles_labels()[1]


def test_what_is_far_out_has_a_mark_at_the_edge() -> None:
    study = bowl()
    assert "far out" not in names_of(plots.progress(study, ax=axes()))
    study.add({"x": 0.5, "y": 0.5}, 1e5)
    study.add({"x": 0.5, "y": 0.6}, -1e5)
    ax = plots.progress(study, ax=axes())
    marks = {str(each.get_marker()): each for each in ax.lines}
    assert np.asarray(marks["^"].get_xdata()).tolist() == [12]
    assert np.asarray(marks["v"].get_xdata()).tolist() == [13]
    assert names_of(ax).count("far out") == 1
    low, high = ax.get_ylim()
    dots = np.concatenate([each[0].get_ydata() for each in ax.containers])
    assert len(dots) == 12
    assert np.all((dots >= low) & (dots <= high))


def test_measurements_that_break_a_limit_are_hollow() -> None:
    outcomes = {"gain": ceibo.Maximize(), "heat": ceibo.AtMost(1.0)}
    study = ceibo.Study.create({"x": ceibo.Float(0, 1)}, outcomes=outcomes)
    for x in (0.1, 0.9, 0.3, 0.7, 0.4):
        study.add({"x": x}, {"gain": 10 * x, "heat": 2 * x})
    ax = plots.progress(study, ax=axes())
    kept, broken = (each[0] for each in ax.containers)
    assert np.asarray(kept.get_xdata()).tolist() == [0, 2, 4]
    assert np.asarray(broken.get_xdata()).tolist() == [1, 3]
    assert broken.get_markerfacecolor() == "none"
    assert "breaks a limit" in names_of(ax)
    for heat in (None, 0.5, 1.5):  # what is not told yet breaks nothing
        told = {"gain": 5.0} if heat is None else {"gain": 5.0, "heat": heat}
        study.tell(study.enqueue({"x": 0.5}), told)
    kept, broken = (each[0] for each in plots.progress(study, ax=axes()).containers)
    assert np.asarray(kept.get_xdata()).tolist() == [0, 2, 4, 5, 6]
    assert np.asarray(broken.get_xdata()).tolist() == [1, 3, 7]
    (slice_,) = plots.slices(study, axes=[axes()])
    legend = slice_.get_legend()
    assert legend is not None
    assert [each.get_text() for each in legend.get_texts()] == ["limits hold with less than 95 %"]


def test_parity_shows_the_leave_one_out_predictions() -> None:
    study = bowl()
    ax = plots.parity(study, ax=axes())
    left = leave_one_out(study.belief)
    shown = np.concatenate([np.column_stack(each[0].get_data()) for each in ax.containers])
    expected = np.column_stack([left.measured, left.predicted])
    np.testing.assert_allclose(np.sort(shown, axis=0), np.sort(expected, axis=0))
    assert ax.get_title().startswith(f"{np.sum(np.abs(left.deviations) < 1.96)} of 12 within")


def test_logarithmic_parameters_have_logarithmic_axes() -> None:
    study = odd_study("log_ranges")
    (ax,) = plots.slices(study, ["rate"], axes=[axes()])
    assert ax.get_xscale() == "log"
    assert plots.contour(study, ["decay", "rate"], ax=axes()).get_yscale() == "log"


def test_names_are_not_read_as_formulas() -> None:
    study = ceibo.Study.create(
        {"$\\frac$": ceibo.Float(0, 1), "b": ceibo.Categorical(["$a$", "$"])}
    )
    for place in (0.1, 0.4, 0.9):
        study.add({"$\\frac$": place, "b": "$"}, place)
    for ax in (*plots.slices(study), plots.contour(study), plots.importance(study)):
        drawn(ax)


def test_without_matplotlib_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import ceibo\n"
        "try: ceibo.plots\n"
        "except ImportError as error: print(error)\n"
        "try: ceibo.plotz\n"
        "except AttributeError as error: print(error)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'path/to/the/clone[plots]'" in ran.stdout
    assert "module 'ceibo' has no attribute 'plotz'" in ran.stdout

"""The suite's analysis on records whose ranks, tests and verdicts are known by hand, and the page
written from them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from ceibo.version import __version__
from ceibo_lab.library import Setting
from ceibo_lab.methods import REFERENCES
from ceibo_lab.plans.many import MANY
from ceibo_lab.plans.suite import COMPARED, DEVELOPMENT, LOCKED, noises
from ceibo_lab.record import FORMAT, Cell, Record
from ceibo_lab.records import Read, Writer
from pages.default.__main__ import main, page
from pages.default.analysis import (
    DEFAULT,
    bootstrap,
    over_cases,
    over_runs,
    overall,
    profile,
    rank,
    tally,
    versus,
)
from pages.default.guide import losses
from pages.default.runs import PRIMARY, Measure, Runs, log_regrets, parts, range_of, seconds
from pages.default.targets import (
    failures_target,
    lacking,
    noiseless_target,
    ranks_target,
    size_target,
    time_target,
    wins_target,
)


def case_of(problem: str, protocol: str, level: float) -> Setting:
    return Setting(problem, "", protocol=protocol, level=level, kind="suite")


BRANIN = case_of("branin", "heteroscedastic", 0.02)
LEVY = case_of("levy", "homoscedastic", 0.25)
SECONDS = {"botorch-qlognei": 2.0, "optuna-gp": 0.5, "random": 0.001}


def made(
    case: Setting,
    method: str,
    seed: int,
    logs: Sequence[float],
    own: Sequence[float] | None = None,
    n: Sequence[int] = (10, 20),
) -> Record:
    """A finished run with these log10 regrets of `recommended`; `best` is worse by 0.1, the oracle
    better by 0.2.
    """
    cell = Cell("suite", case.problem, "plain", case.protocol, case.level, method, seed, n[-1])
    curve = 10.0 ** np.array(logs)
    trace = {"n": list(n), "recommended": curve.tolist(), "best": (10**0.1 * curve).tolist()}
    trace |= {"raw": (10**0.4 * curve).tolist(), "oracle": (10**-0.2 * curve).tolist()}
    if own is not None:
        trace["own"] = (10.0 ** np.array(own)).tolist()
    return {
        "format": FORMAT,
        "key": cell.key,
        "cell": cell.to_json(),
        "versions": {"ceibo": __version__},
        "settings": {"acquisition": method},
        "status": "done",
        "trace": trace,
        "repeated": 0.0,
        "run": {"seconds": 36.0, "suggest": 3.0, "last": SECONDS.get(method, 0.1)},
    }


def failed(case: Setting, method: str, seed: int, steps: int = 20) -> Record:
    record = made(case, method, seed, [0.0, 0.0], n=(10, steps))
    del record["trace"]
    return record | {"status": "failed", "error": "ValueError: something\nelse"}


def ends(case: Setting, values: Mapping[str, Iterable[float]]) -> list[Record]:
    """Runs of methods, one per seed, that end with these log10 regrets and began with 1."""
    return [
        made(case, m, seed, [1.0, end])
        for m, found in values.items()
        for seed, end in enumerate(found)
    ]


def test_regrets_are_floored_and_outside_methods_judged_by_their_own_answer() -> None:
    floor = np.log10(1e-6 * range_of("branin"))
    ours = made(BRANIN, DEFAULT, 0, [1.0, -300.0])
    theirs = made(BRANIN, "optuna-gp", 0, [0.5, 0.0], own=[2.0, 1.0])
    np.testing.assert_allclose(log_regrets(ours, "own"), [1.0, floor])
    np.testing.assert_allclose(log_regrets(ours, "best"), [1.1, floor])
    np.testing.assert_allclose(log_regrets(theirs, "own"), [2.0, 1.0])
    np.testing.assert_allclose(log_regrets(theirs, "recommended"), [0.5, 0.0])
    ours["trace"]["recommended"][1] = None  # what is not finite is written as null
    assert Runs([ours]).values(BRANIN, DEFAULT) == {}


def test_the_area_is_over_the_checkpoints_all_runs_have() -> None:
    runs = Runs(
        [
            made(BRANIN, DEFAULT, 0, [3.0, 2.0, 1.0, 0.0], n=(5, 10, 15, 20)),
            made(BRANIN, "ei", 0, [2.0, 1.0], n=(10, 20)),
        ]
    )
    assert runs.checkpoints(BRANIN) == [10, 20]
    area = Measure("own", area=True)
    assert runs.values(BRANIN, DEFAULT, area) == {0: pytest.approx(1.0)}
    assert runs.values(BRANIN, "ei", area) == {0: pytest.approx(1.5)}


def test_the_usual_length_stands_and_failures_do_not() -> None:
    records = ends(BRANIN, {DEFAULT: [0.0, 0.1], "ei": [0.0, 0.1]})
    longer = made(BRANIN, DEFAULT, 0, [1.0, -1.0], n=(10, 100))
    runs = Runs([longer, *records, failed(BRANIN, "ei", 2)])
    assert runs.values(BRANIN, DEFAULT) == {0: pytest.approx(0.0), 1: pytest.approx(0.1)}
    assert list(runs.of(BRANIN, "ei")) == [0, 1]
    assert seconds([longer, *records])[DEFAULT] == {
        20: {(BRANIN, 0): 0.1, (BRANIN, 1): 0.1},
        100: {(BRANIN, 0): 0.1},
    }


def test_ranks_are_by_the_mean_over_common_seeds_and_ties_share() -> None:
    # the third seed is not EI's
    branin = {DEFAULT: [0.0, 0.2, -9.0], "ei": [0.2, 0.0], "random": [0.5, 0.5, 0.5]}
    levy = {DEFAULT: [0.3], "ei": [0.1], "random": [0.2]}
    found = rank(Runs([*ends(BRANIN, branin), *ends(LEVY, levy)]))
    assert found.methods == [DEFAULT, "ei", "random"]
    assert found.cases == [LEVY, BRANIN]  # the order of the problems
    assert found.seeds == [1, 2]
    np.testing.assert_allclose(found.means, [[0.3, 0.1, 0.2], [0.1, 0.1, 0.5]], atol=1e-12)
    np.testing.assert_array_equal(found.ranks, [[3.0, 1.0, 2.0], [1.5, 1.5, 3.0]])
    assert found.mean(DEFAULT) == 2.25
    assert found.mean("random") == 2.5


def test_a_method_in_few_cases_is_not_ranked_and_one_missing_case_is_left_out() -> None:
    three = [BRANIN, LEVY, case_of("hartmann", "homoscedastic", 0.1)]
    records = [record for case in three for record in ends(case, {DEFAULT: [0.0], "random": [1.0]})]
    records += [
        *ends(BRANIN, {"ei": [0.5]}),
        *ends(LEVY, {"ei": [0.5]}),
        *ends(BRANIN, {"optuna-gp": [0.1]}),
    ]
    found = rank(Runs(records))
    assert found.methods == [DEFAULT, "ei", "random"]
    assert set(found.cases) == {BRANIN, LEVY}
    assert rank(Runs([])).cases == []


def test_wins_and_losses_are_paired_by_seed_and_corrected_over_the_table() -> None:
    """Eight of eight have p = 1/128: significant among six rows, not among seven."""
    steps = np.arange(1, 9) / 100
    values: dict[str, Iterable[float]] = {
        DEFAULT: np.zeros(8),
        "ei": steps,
        "optuna-gp": -steps,
        "random": [*steps, 5.0],
    }
    rows = versus(Runs(ends(BRANIN, values)))
    assert [(row.method, row.comparison.n, row.outcome) for row in rows] == [
        ("ei", 8, "win"),
        ("random", 8, "win"),
        ("optuna-gp", 8, "loss"),
    ]
    assert rows[0].comparison.p == pytest.approx(1 / 128)
    assert rows[0].p == pytest.approx(3 / 128)
    assert rows[0].difference == pytest.approx(-0.045)
    assert (tally(rows, "ei"), tally(rows, "optuna-gp")) == ((1, 0, 0), (0, 0, 1))
    many = versus(Runs(ends(BRANIN, {DEFAULT: np.zeros(8), **{f"x{k}": steps for k in range(7)}})))
    assert many[0].p == pytest.approx(7 / 128)
    assert tally(many, "x0") == (0, 1, 0)
    assert tally(many, "x0", corrected=False) == (1, 0, 0)


def test_the_test_over_cells_is_corrected_over_the_rivals() -> None:
    cases = [case_of("branin", "homoscedastic", level / 100) for level in range(8)]
    worse = {"ei": 0.1, "botorch-qlognei": 0.2, "optuna-gp": 0.3}
    records = [
        r
        for c in cases
        for r in ends(c, {DEFAULT: [c.level], **{m: [c.level + w] for m, w in worse.items()}})
    ]
    found = rank(Runs(records))
    assert [row.ranks_p for row in overall(found)] == pytest.approx([3 / 128] * 3)
    assert [row.problems_p for row in overall(found)] == [1.0] * 3  # one problem is one witness
    assert ranks_target(Runs(records)).met is True
    six = Runs(records).only(lambda case: case.level < 0.06)  # six of six: p = 1/32, times three
    assert ranks_target(six).met is False
    assert ranks_target(Runs([])).met is None


def test_intervals_are_the_same_every_time_and_groups_move_together() -> None:
    values = np.array([1.0, 1.0, 3.0, 3.0])
    assert bootstrap(values) == bootstrap(values)
    assert bootstrap(np.full(4, 2.0)) == bootstrap(np.full(4, 2.0), "abcd")
    grouped = bootstrap(values, "aabb")
    assert (grouped.mean, grouped.low, grouped.high) == (2.0, 1.0, 3.0)
    assert str(bootstrap(np.full(3, 2.0))) == "2.00 [2.00, 2.00]"


def test_a_profile_counts_runs_within_a_factor_of_the_best() -> None:
    runs = Runs(
        ends(BRANIN, {DEFAULT: [0.0, 0.0], "ei": [np.log10(2.0), -1.0], "random": [1.0, 1.0, 9.0]})
    )
    count, shares = profile(
        runs, [DEFAULT, "ei", "random"], PRIMARY, np.array([1.0, 2.0, 10.0, 100.0])
    )
    assert count == 2
    np.testing.assert_array_equal(shares, [[0.5, 0.5, 1, 1], [0.5, 1, 1, 1], [0, 0, 0.5, 1]])


def test_records_go_to_their_half() -> None:
    development = made(case_of("griewank", "varying-untold", 0.02), DEFAULT, 0, [1.0, 0.0])
    noiseless = made(case_of("branin", "noiseless", 0.0), DEFAULT, 0, [1.0, 0.0])
    other = made(BRANIN, DEFAULT, 0, [1.0, 0.0]) | {
        "cell": {**noiseless["cell"], "kind": "optimise"}
    }
    last, fresh = (made(BRANIN, DEFAULT, seed, [1.0, 0.0]) for seed in (19, 20))
    found = parts([development, noiseless, last, fresh, other])
    assert [[case.problem for case in runs.cases] for runs in found] == [
        ["branin"],
        ["griewank"],
        ["branin"],
        ["branin"],
    ]
    assert [runs.cases[0].protocol for runs in found[:3]] == [
        "heteroscedastic",
        "varying-untold",
        "noiseless",
    ]
    assert (list(found.locked.of(BRANIN, DEFAULT)), list(found.fresh.of(BRANIN, DEFAULT))) == (
        [19],
        [20],
    )


def test_records_of_many_parameters_beside_the_suites_change_nothing() -> None:
    cases = [case_of(problem, *noises(problem)[0]) for problem in (*LOCKED, *DEVELOPMENT)]
    suite = [
        made(case, m, s, [1.0, 0.5]) for case in cases for m in (DEFAULT, "ei") for s in (0, 1)
    ]
    beside = [
        made(case_of(cell.problem, cell.protocol, cell.level), cell.method, cell.seed, [1.0, 0.5])
        for plan in MANY
        for cell in plan.cells(seeds=2)
    ]
    found = page(Read([*suite, *beside]), [], 0, "x").markdown()
    assert found == page(Read(suite), [], 0, "x").markdown()


def test_fresh_seeds_have_a_section_of_their_own() -> None:
    cases = [case_of(problem, *noises(problem)[0]) for problem in LOCKED]
    seen = [
        made(case, m, s, [1.0, -0.75 * (m == "ei")])
        for case in cases
        for m in (DEFAULT, "ei")
        for s in range(3)
    ]
    fresh = [
        made(case, m, s, [1.0, 0.25 * (m == "ei")])
        for case in cases
        for m in (DEFAULT, "ei")
        for s in (20, 21, 22)
    ]
    assert "fresh seeds" not in page(Read(seen), [], 0, "x").markdown()
    text = (
        page(Read([*seen, *fresh]), [], 0, "x")
        .markdown()
        .partition("## Once more, on fresh seeds")[2]
    )
    alone, _, together = text.partition("All seeds")
    assert "Planned and not run on the further seeds: BoTorch qLogNEI." in alone
    # Eight cells of eight: p = 2/256 over cells, and 24 of 24 runs; with the seeds seen before it
    # loses on the whole.
    assert (
        "| EI | 24 | 3 | 8 / 0 | -0.250 [-0.250, -0.250] | p = 0.008 | 24 / 0, p < 0.001 | 0 / 8"
        " / 0 |" in alone
    )
    assert "| EI | 48 | 6 | 0 / 8 | +0.250 [+0.250, +0.250] | p = 0.008 | 24 / 24, " in together
    assert over_runs(parts(fresh).fresh, "ei").n == 24


Ends = Callable[[Setting, str, int], float]


def whole(end: Ends) -> list[Record]:
    """Every run of the locked half, and of its problems without noise, 100 trials each."""
    found = []
    for problem in LOCKED:
        for protocol, level in (*noises(problem), ("noiseless", 0.0)):
            case = case_of(problem, protocol, level)
            for method in COMPARED if level else (DEFAULT, "ei"):
                for seed in range(20):
                    last = end(case, method, seed)
                    own = [1.0, last] if method in REFERENCES else None
                    found.append(made(case, method, seed, [1.0, last], own, n=(10, 100)))
    return found


def good(_case: Setting, method: str, seed: int) -> float:
    """The default first, then EI, corrected EI, …, everywhere."""
    return 0.01 * seed + 0.1 * COMPARED.index(method)


def lost_somewhere(case: Setting, method: str, seed: int) -> float:
    """As above, but EI is better by far in both cells of Branin, and without noise."""
    return -1.0 if method == "ei" and case.problem == "branin" else good(case, method, seed)


def test_a_default_that_wins_everywhere_meets_every_target() -> None:
    records = whole(good)
    locked, _, noiseless, _ = parts(records)
    targets = [
        ranks_target(locked),
        wins_target(locked),
        time_target(records),
        noiseless_target(noiseless),
    ]
    targets += [failures_target(records), size_target(10, 1)]
    assert [each.verdict for each in targets] == [
        "met",
        "met",
        "met at n = 100",
        "met",
        "met",
        "met",
    ]
    assert (
        "Mean rank of the default 1.00 over 16 cells, against EI 2.00 (p < 0.001, problem by"
        " problem p = 0.023" in targets[0].found
    )
    assert "EI 16 / 0 / 0" in targets[1].found
    assert "20.0 times as long in the median of 320 pairs" in targets[2].found
    assert lacking(locked) == ""
    assert losses(locked, rank(locked), versus(locked)) == []


def test_no_worse_without_noise_takes_more_than_too_few_runs_to_tell() -> None:
    """Differences so uneven that nothing is significant, and worse on the whole."""
    uneven = [
        made(case_of(p, "noiseless", 0.0), DEFAULT, s, [1.0, 0.9 * (k == s)])
        for k, p in enumerate(LOCKED)
        for s in (0, 1)
    ]
    exact = [
        made(case_of(p, "noiseless", 0.0), "ei", s, [1.0, 0.0]) for p in LOCKED for s in (0, 1)
    ]
    found = noiseless_target(parts([*uneven, *exact]).noiseless)
    assert "0 / 8 / 0" in found.found
    assert found.met is False


def test_losses_are_found_and_said() -> None:
    broken = failed(LEVY, DEFAULT, 20, 100)
    records = [*whole(lost_somewhere), broken, made(BRANIN, "kg", 0, [1.0, 0.0], n=(10, 100))]
    records = [r for r in records if (r["cell"]["method"], r["cell"]["seed"]) != ("random", 19)]
    locked, _, noiseless, _ = parts(records)
    assert wins_target(locked).met is False
    assert "EI 14 / 0 / 2" in wins_target(locked).found
    assert noiseless_target(noiseless).met is False
    assert failures_target(records).met is False
    assert "16 of random search" in lacking(locked)
    found = losses(locked, rank(locked), versus(locked))
    assert {loss.case.problem for loss in found} == {"branin"}
    assert all((loss.rank, loss.lost_to, loss.winner) == (2.0, ["ei"], "ei") for loss in found)
    assert found[0].final == pytest.approx(1.095)
    assert found[0].reason == "the points it measured"
    text = page(Read(records), [], 30_000_000, "results/suite").markdown()
    assert "- **missed**: Per cell, more significant wins" in text
    assert (
        "Branin 2, up to 2 %, told to EI by 1.09" in text
        or "Branin 2, up to 2 %, told to EI by 1.10" in text
    )
    assert "- **missed**: One command repeats any cell" in text
    assert "**The sweep is not complete" in text
    assert "| Branin 2, up to 2 %, told | 19 | 0.09 | **-1.00** **L** |" in text
    assert f"`{broken['key']}`: ValueError: something else" in text
    assert "python -m pages.default results/suite --docs docs" in text


def test_the_command_writes_page_and_figures_the_same_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, values = tmp_path / "records" / "some.jsonl", {DEFAULT: [0.5, 0.6], "ei": [0.1, 0.1]}
    with Writer(store) as writer:
        for record in ends(BRANIN, values):
            writer.add(record)
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        assert main([str(store.parent), "--docs", str(tmp_path / folder)]) == 0
    one, two = (
        sorted(p for p in (tmp_path / name).rglob("*") if p.is_file()) for name in ("one", "two")
    )
    assert [path.name for path in one] == [path.name for path in two]
    assert {
        "default.md",
        "default-convergence.svg",
        "default-ranks.png",
        "default-profile.png",
    } <= {p.name for p in one}
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in two]
    assert "**not decided**: Over the cells" in (tmp_path / "one" / "default.md").read_text(
        encoding="utf-8"
    )
    capsys.readouterr()


def test_without_records_there_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path / "nowhere")]) == 2
    assert "does not exist" in capsys.readouterr().err
    assert main([str(tmp_path), "--docs", str(tmp_path)]) == 2
    assert "there are no records of the suite" in capsys.readouterr().err
    assert not (tmp_path / "default.md").exists()


def test_a_method_with_few_runs_is_compared_pair_by_pair_and_not_ranked() -> None:
    """Of four seeds BoTorch has one: it must not reduce the others to that seed."""
    records = []
    for case in (BRANIN, LEVY):
        records += [made(case, DEFAULT, seed, [0.0, float(seed)]) for seed in range(4)]
        records += [made(case, "ei", seed, [0.0, seed + 1.0]) for seed in range(4)]
        records += [made(case, "botorch-qlognei", 3, [0.0, 5.0], own=[0.0, 2.0])]
    runs = Runs(records)
    found = rank(runs)
    assert found.methods == [DEFAULT, "ei"]
    assert found.seeds == [4, 4]
    assert found.mean(DEFAULT) == 1.0
    beside, seeds = over_cases(runs, "botorch-qlognei")
    assert seeds == [1, 1]
    assert (beside.below, beside.above) == (0, 2)  # 3 against 2, in both cases
    said = ranks_target(runs).found
    assert "BoTorch qLogNEI has too few runs to be ranked" in said
    assert "lower in 0 cells and higher in 2" in said

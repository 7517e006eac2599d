"""Studies of CeiboSampler in optuna-dashboard, served on loopback and opened in a real browser (see
conftest.py).
"""

import threading
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import optuna
import optuna_dashboard
import pytest

from ceibo.integrations.optuna import CeiboSampler, report_noise

TRIALS = 12


class Server(ThreadingMixIn, WSGIServer):
    """A browser opens several connections at once."""

    daemon_threads = True


class Silent(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def objective(trial: optuna.Trial) -> float:
    x = trial.suggest_float("x", 0, 1)
    solvent = trial.suggest_categorical("solvent", ["water", "ethanol"])
    report_noise(trial, 0.1 + 0.01 * trial.number)
    if trial.number == 4:
        raise optuna.TrialPruned
    return (x - 0.3) ** 2 + (solvent == "water")


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a dashboard that shows one study, in an SQLite file, with a finished, a pruned and a
    running trial.
    """
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    study = optuna.create_study(
        storage=storage, study_name="catalyst", sampler=CeiboSampler(seed=0)
    )
    study.optimize(objective, n_trials=TRIALS - 1)
    waiting = study.ask()  # has system attributes of ours, and no value
    waiting.suggest_float("x", 0, 1)
    application = optuna_dashboard.wsgi(storage)
    with make_server(
        "127.0.0.1", 0, application, server_class=Server, handler_class=Silent
    ) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/dashboard"
        server.shutdown()
        thread.join()


def test_the_dashboard_shows_our_studies(browser: Any, address: str) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    page = context.new_page()
    messages: list[str] = []
    failed: list[str] = []
    page.on(
        "console",
        lambda message: messages.append(message.text) if message.type == "error" else None,
    )
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on(
        "response", lambda response: failed.append(response.url) if response.status >= 400 else None
    )

    page.goto(address)
    page.get_by_text("catalyst").first.wait_for()
    page.goto(f"{address}/studies/1")
    page.get_by_text("Best Trial").first.wait_for()
    page.get_by_text("Hyperparameter Importance").first.wait_for()
    page.goto(f"{address}/studies/1/analytics")
    page.get_by_text("Contour").first.wait_for()
    page.goto(f"{address}/studies/1/trials")
    page.get_by_text(f"{TRIALS} Trials").first.wait_for()
    text = page.inner_text("body")
    assert [f"Trial {number}\n" in text for number in range(TRIALS)] == [True] * TRIALS
    assert text.count("Complete\n") >= TRIALS - 2
    page.goto(f"{address}/studies/1/trials?numbers=7")
    page.get_by_text("ceibo:noise").first.wait_for()
    assert "0.17" in page.inner_text("body")  # what was reported of trial 7
    context.close()
    assert messages == []
    assert failed == []

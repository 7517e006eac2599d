"""The experimenter's side: studies kept in a database, and the loops around them."""

from ceibo.study.backtesting import Backtest, backtest
from ceibo.study.current import CurrentTrial, current_trial
from ceibo.study.limits import Limits
from ceibo.study.run import maximize, minimize, optimize
from ceibo.study.study import Result, Study
from ceibo.study.trial import Failure, Trial
from ceibo.study.verify import Verification

__all__ = [
    "Backtest",
    "CurrentTrial",
    "Failure",
    "Limits",
    "Result",
    "Study",
    "Trial",
    "Verification",
    "backtest",
    "current_trial",
    "maximize",
    "minimize",
    "optimize",
]

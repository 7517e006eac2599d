"""CeiboSearchCV: hyperparameter search for scikit-learn that knows its scores are noisy.

    space = {"C": loguniform(1e-2, 1e3), "gamma": loguniform(1e-4, 1)}
    search = CeiboSearchCV(SVC(), space, n_iter=30, random_state=0)
    search.fit(X, y).best_params_

A drop-in for RandomizedSearchCV. The noise of each score is estimated from the spread of its folds,
a Gaussian process is fitted to all scores, and the best candidate is the one with the best
posterior mean, not the one with the luckiest folds.
"""

import numbers
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, final, overload

import numpy as np

try:
    from sklearn.base import is_classifier
    from sklearn.exceptions import FitFailedWarning
    from sklearn.model_selection import check_cv
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        "ceibo.integrations.sklearn needs scikit-learn 1.5 or newer: pip install"
        " 'path/to/the/clone[sklearn]'"
    ) from error

from ceibo.checks import check_cost, check_whole, checked_options
from ceibo.decide import DEFAULT_ACQUISITION, Settings, Stop, StopReason
from ceibo.decide.outcomes import Outcome
from ceibo.decide.settings import DEFAULT_CONFIDENCE, check_acquisition
from ceibo.integrations.copies import Receiver
from ceibo.integrations.sklearn.fits import Fits, draw_seed
from ceibo.integrations.sklearn.kept import where_kept
from ceibo.integrations.sklearn.limits import check_limits, fold_scores, warn_if_doubtful
from ceibo.integrations.sklearn.metric import (
    SINGLE,
    check_scored,
    choose,
    metric_of,
    metrics_in,
    warned_once,
)
from ceibo.integrations.sklearn.noise import forecast_std, warn_of_one_split
from ceibo.integrations.sklearn.search import SameSplits, Search, is_hopeless, patience_of
from ceibo.integrations.sklearn.space import Parameters, warn_if_small
from ceibo.integrations.sklearn.tables import add_failed, add_posterior

__all__ = ["CeiboSearchCV"]

S = TypeVar("S", bound=Receiver)


@final
class CeiboSearchCV(BaseSearchCV):  # type: ignore[misc]  # scikit-learn has no types
    """Hyperparameter search by Bayesian optimisation of the noisy cross-validation score.

    Parameters
    ----------
    estimator : estimator object
        It is cloned for every fit.

    param_distributions : dict
        Parameter name -> list of values, scipy.stats distribution, or ceibo Float, Int, Ordinal or
        Categorical; one with ``when`` keeps the estimator's own value where it does not exist, and
        may depend on a list, such as one of estimators.
        Ascending numbers, three or more, are levels in their order. A distribution is searched on
        its own scale: ``loguniform`` in the log; one that runs out (``expon``, ``norm``) between
        its quantiles 0.001 and 0.999.

    n_iter : int, default=10
        Number of candidates; fewer if the space has fewer.

    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in :class:`~sklearn.model_selection.RandomizedSearchCV`. With several metrics, ``refit``
        names the one that is optimised, unless ``metric`` does. All candidates are scored on the
        same splits, which are drawn once.

    random_state : int, RandomState instance or None, default=None
        With an int, ``fit`` gives the same candidates every time, whatever ``n_jobs`` is.

    batch_size : int, default=1
        Candidates chosen at a time. More than one keeps more than ``n_splits`` processors busy.

    acquisition : str
        Name of an acquisition function, see ``ceibo.acquisition.ACQUISITIONS``.

    n_initial : int or None, default=None
        Size of the initial design; twice the number of parameters, from 4 to 40, by default.

    metric : str or None, default=None
        Which of several metrics is optimised. Needed if ``refit`` is False or a function.

    limits : dict or None, default=None
        Name of a metric in ``scoring``, ``"fit_time"`` or ``"score_time"`` (in seconds, the mean
        over the folds) -> ``ceibo.AtMost`` or ``ceibo.AtLeast``. The search then looks for the best
        candidate that holds them.

    confidence : float, default=0.95
        Probability with which limits are to hold at the best candidate.

    cost : float or None, default=None
        Price of one candidate in the units of the score. The search ends before ``n_iter``
        candidates when none promises to improve the score by as much.

    storage : str, path or None, default=None
        A file in which every candidate is kept as soon as it is scored. A search with the same
        options and data goes on with what is in it, up to ``n_iter`` candidates in all.

    Attributes
    ----------
    metric_ : str
        The metric optimised, as the keys of ``cv_results_`` call it: ``score`` if there is one.

    stop_ : ceibo.decide.Stop
        Why the search ended, as ``reason`` and as a sentence, ``message``.

    cv_results_ : dict
        As in RandomizedSearchCV, and for the metric optimised (``score`` if it is the only one):
        ``posterior_mean_test_score`` and ``posterior_std_test_score``, what all scores together say
        about a candidate; ``noise_test_score``, the standard deviation of its mean score without
        the folds' effects, NaN if unknown; ``rank_posterior_test_score``. With limits also
        ``p_feasible``, the probability that all of them hold, and the posterior of what they are
        on; candidates that hold them with ``confidence`` rank before all others.

    best_index_, best_params_, best_estimator_
        Of the candidate with the best posterior mean; with limits, of those that hold them with
        ``confidence``, or of the most likely one if there is none.

    best_score_ : float
        Posterior mean of the best candidate's score. The mean score itself, in ``cv_results_``, is
        too good on average, because it was chosen for being high.

    best_std_ : float
        Standard deviation of ``best_score_`` in a comparison on these folds: how surely the best
        candidate is better than another. What all candidates have in common, an easy fold or an
        easy data set, is not in it.

    best_forecast_std_ : float
        Standard deviation of ``best_score_`` as a forecast of the score on other data: a model
        taught with as many samples as in a split, and scored on samples it has not seen. By
        Nadeau and Bengio's corrected resampled variance; NaN for a single split.

    Other attributes are those of RandomizedSearchCV.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ceibo.integrations.sklearn import CeiboSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = CeiboSearchCV(SVC(), {"C": loguniform(1e-2, 1e2)}, n_iter=6, random_state=0)
    >>> search = search.fit(X, y)
    >>> search.best_score_ > 0.9
    True
    """

    cv: Any  # set by the base class
    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012 - as scikit-learn declares it
        **BaseSearchCV._parameter_constraints,  # noqa: SLF001 - likewise
        "param_distributions": [dict, list],  # a list is refused with advice
        "n_iter": [numbers.Integral],
        "random_state": ["random_state"],
        "batch_size": [numbers.Integral],
        "acquisition": [str],
        "n_initial": [numbers.Integral, None],
        "metric": [str, None],
        "cost": [numbers.Real, None],
        "limits": [dict, None],
        "confidence": [numbers.Real],
        "storage": [str, os.PathLike, None],
    }

    @checked_options("CeiboSearchCV", n_trials="n_iter", param_grid="param_distributions")
    def __init__(  # noqa: PLR0913 - scikit-learn's own signature, and eight more
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any],
        *,
        n_iter: int = 10,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[..., int] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: Any = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        batch_size: int = 1,
        acquisition: str = DEFAULT_ACQUISITION,
        n_initial: int | None = None,
        metric: str | None = None,
        cost: float | None = None,
        limits: Mapping[str, Outcome] | None = None,
        confidence: float = DEFAULT_CONFIDENCE,
        storage: str | os.PathLike[str] | None = None,
    ) -> None:
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.random_state = random_state
        self.batch_size = batch_size
        self.acquisition = acquisition
        self.n_initial = n_initial
        self.metric = metric
        self.cost = cost
        self.limits = limits
        self.confidence = confidence
        self.storage = storage
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> "CeiboSearchCV":
        """Run the search.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training vectors.

        y : array-like of shape (n_samples,) or (n_samples, n_output), default=None
            Target relative to X.

        **params : dict of str -> object
            Parameters passed to the ``fit`` method of the estimator, the scorer and the splitter.

        Returns
        -------
        self : object
            The fitted search.
        """
        given = self.cv
        self.cv = once = SameSplits(check_cv(given, y, classifier=is_classifier(self.estimator)))
        try:
            super().fit(X, y, **params)
        except KeyboardInterrupt as interrupt:
            interrupt.add_note(where_kept(self.storage))
            raise
        finally:
            self.cv = given
        check_scored(self.cv_results_, self.metric_)
        # as scikit-learn decides whether there is a best score
        if not callable(self.refit) and (self.refit or not self.multimetric_):
            results = self.cv_results_
            mean, std = (f"posterior_{each}_test_{self.metric_}" for each in ("mean", "std"))
            self.best_score_ = float(results[mean][self.best_index_])
            self.best_std_ = float(results[std][self.best_index_])
            scores = fold_scores(results, self.metric_)[self.best_index_]
            self.best_forecast_std_ = forecast_std(scores, once.splits or ())
        return self

    @overload
    def to_study(self, create: None = None, **options: Any) -> Any: ...
    @overload
    def to_study(self, create: Callable[..., S], **options: Any) -> S: ...
    def to_study(self, create: Callable[..., S] | None = None, **options: Any) -> S | Any:
        """The candidates and their scores as a new study of ceibo's own, for a report or to keep.

        A parameter whose distribution ceibo's spaces do not have is shown by its quantile. What is
        said of scores is said of these folds: the ± of the study's answers is ``best_std_``, not
        ``best_forecast_std_``.

        Parameters
        ----------
        create : callable, default=ceibo.Study.create
            Makes the study.

        **options : dict of str -> object
            Options of ``create``, such as ``storage`` and ``name``.

        Returns
        -------
        study : ceibo.Study
        """
        check_is_fitted(self, "cv_results_")
        return self._copy.into(create, options)

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        for name in ("n_iter", "batch_size"):
            check_whole(getattr(self, name), name)
        cost = None if self.cost is None else check_cost(self.cost)
        metric = metric_of(self.scoring, self.refit, self.metric)
        parameters = Parameters.of(self.param_distributions)
        error_score = np.nan if isinstance(self.error_score, str) else float(self.error_score)
        limits, confidence = check_limits(self.limits, self.confidence)
        if limits is not None:
            check_acquisition(self.acquisition, limits=1)
            limits.check_early(self.scoring, metric)
        # The noise of each candidate's mean is told (noise.py), also where it differs; and a score
        # that is far from the others' is no slip: some hyperparameters are that bad.
        settings = Settings(
            self.acquisition,
            n_initial=self.n_initial,
            confidence=confidence,
            varying_noise=False,
            outliers=False,
        )
        fits = Fits(evaluate_candidates)
        if self.n_splits_ == 1:
            warn_of_one_split()
        kept = fits.open_storage(self, parameters, settings)
        seed = draw_seed(self) if kept is None else kept.seed
        search = Search(parameters, settings, seed, error_score, limits)
        warn_if_small(parameters, self.n_iter)
        initial = settings.initial_size(len(parameters.space))
        results: dict[str, Any] = {}
        if kept is not None and (out := kept.restore(search)):
            results = fits.restore(self, [each.params for each in search.evaluated], out)
            metric = self._note(search, results, metric)
        # Which metrics a function returns is known from its first scores only: those of one
        # candidate, lest a whole design be fitted for a wrong name.
        probing = metric is None
        stop = self._verdict(search, cost) if results else None
        while stop is None and search.count < self.n_iter and not is_hopeless(search, self.n_iter):
            # The initial design depends on no score: one batch, unless it is to be kept.
            wanted = self.batch_size if kept else max(self.batch_size, initial - search.count)
            batch = search.batch(min(1 if probing else wanted, self.n_iter - search.count))
            if not batch:
                message = f"all {search.count} points of the space were evaluated."
                stop = Stop(StopReason.BUDGET, message)
                break
            try:
                with warned_once(results):
                    results = evaluate_candidates([each.params for each in batch])
            except ValueError as error:
                if self.error_score == "raise" or "fits failed" not in str(error):
                    raise
                if probing and kept is None:
                    probing = False
                    continue  # with the whole design, some of which may not fail
                # scikit-learn raises if all fits of a call fail; one may be of one candidate.
                if not results and search.count + len(batch) >= patience_of(search, self.n_iter):
                    raise
                warnings.warn(f"{batch[0].params}: {error}", FitFailedWarning, stacklevel=2)
                search.failed += batch
                if kept is not None:
                    kept.add_failed(batch, str(error))
                continue
            search.evaluated += batch
            probing = False
            if kept is not None:
                kept.add(batch, fits.last(self.n_splits_ * len(batch)))
            metric = self._note(search, results, metric)
            stop = self._verdict(search, cost)
        full = Stop(StopReason.BUDGET, f"all {self.n_iter} candidates were evaluated.")
        self.stop_ = stop or full
        self.metric_ = metric or SINGLE
        self._copy = search.copy()
        if self.verbose > 0:
            print(self.stop_.message)
        failed = [each.params for each in search.failed]
        add_failed(results, failed, np.full(search.scores.shape[1], error_score))
        add_posterior(results, self.metric_, search.posterior(), settings.assurance)
        if limits is not None:
            warn_if_doubtful(results["p_feasible"], settings.assurance)

    def _note(self, search: Search, results: dict[str, Any], metric: str | None) -> str:
        """Gives a search the scores in a table; returns the metric that is optimised."""
        chosen = metric or choose(metrics_in(results), self.refit, self.metric)
        search.metric, search.scores = chosen, fold_scores(results, chosen)
        if search.limits is not None:
            search.limits.check(metrics_in(results), chosen)
            search.limited = search.limits.scores(results)
        return chosen

    def _verdict(self, search: Search, cost: float | None) -> Stop | None:
        """Why the search ends now, if no candidate is worth its price."""
        verdict = None if cost is None else search.verdict(cost)
        return Stop(StopReason.COST, verdict.message) if verdict else None

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: dict[str, Any]) -> int:
        """The candidate with the best posterior mean, or what a callable `refit` says."""
        if callable(refit):
            choose = BaseSearchCV._select_best_index  # noqa: SLF001 - the method overridden here
            return int(choose(refit, refit_metric, results))
        return int(np.argmin(results[f"rank_posterior_test_{refit_metric}"]))

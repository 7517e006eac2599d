"""scikit-learn: ceibo as a search over the parameters of an estimator. Needs scikit-learn."""

from ceibo.integrations.sklearn.search_cv import CeiboSearchCV

__all__ = ["CeiboSearchCV"]

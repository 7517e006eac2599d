"""CeiboSearchCV beside RandomizedSearchCV: what each says of its choice, and what fresh data say.

Needs `pip install '.[sklearn]'`. Run it with `python examples/integrations_sklearn.py`.
"""

from scipy.stats import loguniform, randint
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import recall_score
from sklearn.model_selection import RandomizedSearchCV, train_test_split
from sklearn.tree import DecisionTreeClassifier

import ceibo
from ceibo.integrations.sklearn import CeiboSearchCV


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=250, stratify=y, random_state=0
    )
    space = {
        "max_depth": randint(1, 13),
        "min_samples_leaf": randint(1, 31),
        "ccp_alpha": loguniform(1e-4, 1e-1),
    }
    tree = DecisionTreeClassifier(random_state=0)

    random = RandomizedSearchCV(tree, space, n_iter=20, random_state=0).fit(X_train, y_train)
    ours = CeiboSearchCV(tree, space, n_iter=20, random_state=0).fit(X_train, y_train)

    print(
        f"RandomizedSearchCV says {random.best_score_:.3f}; fresh data"
        f" {random.score(X_test, y_test):.3f}"
    )
    said = f"{ours.best_score_:.3f} ± {ours.best_forecast_std_:.3f}"
    print(f"CeiboSearchCV      says {said}; fresh data {ours.score(X_test, y_test):.3f}")
    results, best = ours.cv_results_, ours.best_index_
    print(f"its choice: {ours.best_params_}")
    # std / √(folds − 1)
    noise, naive = results["noise_test_score"][best], results["std_test_score"][best] / 2
    mean = results["mean_test_score"][best]
    print(f"its mean score: {mean:.3f} ± {noise:.3f}; by the folds' spread alone ± {naive:.3f}")

    # The best precision with a recall of at least 0.93: few benign cases taken for malignant.
    limited = CeiboSearchCV(
        tree,
        space,
        n_iter=20,
        random_state=0,
        scoring=["precision", "recall"],
        refit="precision",
        limits={"recall": ceibo.AtLeast(0.93)},
    ).fit(X_train, y_train)
    chance = limited.cv_results_["p_feasible"][limited.best_index_]
    found = recall_score(y_test, limited.predict(X_test))
    print(f"with a limit: recall >= 0.93 with probability {chance:.2f}; on fresh data {found:.3f}")


if __name__ == "__main__":
    main()

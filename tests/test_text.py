"""Texts cut to a width, so that they can be told apart."""

from ceibo.text import shorten_apart


def test_parameters_of_a_pipeline_keep_their_ends() -> None:
    names = ["sgdclassifier__alpha", "sgdclassifier__penalty", "C"]
    assert shorten_apart(names, 13) == ["…alpha", "…penalty", "C"]
    assert shorten_apart(names, 40) == names
    assert shorten_apart(["sgdclassifier__loss__alpha", "C"], 13) == ["…alpha", "C"]


def test_ends_that_are_the_same_leave_the_middle_out() -> None:
    names = ["firststep__alpha", "secondstep__alpha"]
    assert shorten_apart(names, 13) == ["firststep__a…", "secondstep__…"]
    names = ["column__first__alpha", "column__other__alpha"]
    cut = shorten_apart(names, 13)
    assert len(set(cut)) == 2
    assert max(map(len, cut)) <= 13
    assert shorten_apart(["a" * 20, "__" + "b" * 20, "c__"], 9)[0] == "aaaaaaaa…"

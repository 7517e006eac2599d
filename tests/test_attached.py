"""Methods that layers above provide: all declared ones are, with the signature declared."""

import inspect
import subprocess
import sys
from typing import Any

import pytest

import ceibo.integrations.copies  # which declares one
import ceibo.study  # its classes declare them
from ceibo.attached import DECLARED, PROVIDED, attach, attached, provider
from ceibo.errors import InputError


def test_every_declared_method_is_provided_and_no_other() -> None:
    assert set(DECLARED) == set(PROVIDED)
    assert {"Faces.report", "Shown._repr_html_"} <= set(DECLARED)


@pytest.mark.parametrize("name", sorted(PROVIDED))
def test_a_provided_function_takes_what_the_method_takes(name: str) -> None:
    declared = inspect.signature(DECLARED[name])
    given = inspect.signature(provider(name))
    assert declared.return_annotation == given.return_annotation

    def options(signature: inspect.Signature) -> list[tuple[str, Any, Any]]:
        rest = list(signature.parameters.values())[1:]  # after the object itself
        return [(each.name, each.kind, each.default) for each in rest]

    known = options(declared)
    assert [each for each in options(given) if each in known] == known
    # what a command alone says stands behind, and may be left out
    further = [each for each in options(given) if each not in known]
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in further)
    assert all(default is not inspect.Parameter.empty for _, _, default in further)


def test_the_classes_show_themselves() -> None:
    for shown in (ceibo.Study, ceibo.Result, ceibo.Trial, ceibo.Estimate):
        assert callable(getattr(shown, "_repr_html_", None))


def test_importing_ceibo_does_not_import_what_provides() -> None:
    modules = sorted({each.partition(":")[0] for each in PROVIDED.values()})
    shown = f"print([each for each in {modules!r} if each in sys.modules])"
    code = f"import sys; from ceibo import *; {shown}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_a_body_is_found_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    class Box:
        @attached
        def total(self, more: float = 0.0) -> float:
            """Of what is in it."""
            raise NotImplementedError

    (name,) = [each for each in DECLARED if each.endswith("Box.total")]
    try:
        assert Box.total.__doc__ == "Of what is in it."
        with pytest.raises(InputError, match="provided by no part"):
            Box().total()
        attach({name: f"{__name__}:total_of"})
        assert Box().total(2.0) == 42.0
    finally:
        DECLARED.pop(name)
        PROVIDED.pop(name, None)


def total_of(box: object, more: float = 0.0) -> float:
    return 40.0 + more

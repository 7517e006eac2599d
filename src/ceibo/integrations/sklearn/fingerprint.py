"""What tells two estimators, scorings or folds apart, in this process and in the next.

Everything is walked into plain data, and of that there is a hash. A class and a function are their
module and qualified name, an estimator is its class and `get_params(deep=False)`, a scorer its
function, sign, options and response method, an array its dtype, shape and bytes, a generator of
random numbers its state, any other object what `copy` would make it anew from. Never a `repr`,
which is cut where it is long, and holds addresses; and nothing is pickled.

A lambda, a function inside another and one of `__main__` is its code as well, with the values that
it closes over, and so is a class there: it is edited under the same name. What a function reads
elsewhere, and the code of imported modules, are not part of it.
"""

import copyreg
import functools
import hashlib
import json
import types
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics._scorer import _BaseScorer

_SCORER: Final = ("_score_func", "_sign", "_kwargs", "_response_method")
# what a clone of an estimator has beside its parameters
_CLONED: Final = ("_metadata_request", "_sklearn_output_config")
# what Python itself writes into a class, some of it only in some versions
_OF_PYTHON: Final = (
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("__firstlineno__", "__static_attributes__", "__abstractmethods__", "_abc_impl"),
)
_FROZEN: Final = "frozen"
_PROTOCOL: Final = 4  # of __reduce_ex__, whose answer is taken apart here

Held = tuple[int, ...]  # the objects being walked, by id


def fingerprint(value: object) -> str:
    """The same text for what is the same, today and after a restart."""
    text = json.dumps(_plain(value, ()))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any, held: Held, is_frozen: bool = False) -> Any:
    """A value as None, texts and lists of them; of a frozen estimator, with what it has learnt."""
    if value is None or isinstance(value, bool | int | float | str):
        return _number_or_text(value)
    if isinstance(value, np.generic) and not isinstance(value, np.void | np.object_):
        return [value.dtype.str, _plain(value.item(), held)]
    if isinstance(value, bytes | bytearray):
        return ["bytes", hashlib.sha256(value).hexdigest()]
    if isinstance(value, types.ModuleType):
        return ["module", value.__name__]
    if id(value) in held:
        return ["again", len(held) - held.index(id(value))]
    within = (*held, id(value))
    kind, parts = _taken_apart(value, is_frozen)
    is_frozen = is_frozen or kind == _FROZEN
    return [kind, [_plain(part, within, is_frozen) for part in parts]]


def _number_or_text(value: Any) -> Any:
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            named = [] if type(value) is plain else [_name(type(value))]
            whole = plain.__repr__(value) if plain is not str else str.__str__(value)
            return [plain.__name__, whole, *named]
    return None


def _taken_apart(value: Any, is_frozen: bool) -> tuple[str, Sequence[Any]]:
    """The kind of an object, and its parts."""
    if type(value) in (list, tuple):
        return type(value).__name__, value
    if isinstance(value, set | frozenset):
        return _name(type(value)), sorted(map(fingerprint, value))
    if isinstance(value, Mapping):
        pairs = [(fingerprint(key), each) for key, each in value.items()]
        return _name(type(value)), [part for pair in sorted(pairs, key=_first) for part in pair]
    if isinstance(value, np.ndarray):
        return "array", _of_array(value)
    if isinstance(value, type):
        return "class", [_name(value), *_written_here(value)]
    if hasattr(value, "untyped_storage") and hasattr(value, "detach"):  # a tensor of torch
        numbers = value.detach().cpu().tolist()
        return "tensor", [type(value), str(value.dtype), value.requires_grad, numbers]
    if isinstance(value, types.FunctionType):
        return "function", _of_function(value)
    if callable(value) and hasattr(value, "__wrapped__"):  # as functools.cache makes
        return "wrapper", [type(value), value.__wrapped__]
    if isinstance(value, property):
        return "property", [value.fget, value.fset, value.fdel]
    if isinstance(value, staticmethod | classmethod):
        return type(value).__name__, [value.__func__]
    if isinstance(value, types.CodeType):
        return "code", _of_code(value)
    if isinstance(value, types.MethodType):
        return "method", [value.__self__, value.__func__]
    if isinstance(value, functools.partial):
        return "partial", [value.func, value.args, value.keywords]
    if isinstance(value, np.random.RandomState):
        is_global = value is np.random.mtrand._rand  # noqa: SLF001 - as scikit-learn names it
        return "RandomState", [] if is_global else [value.get_state(legacy=False)]
    if isinstance(value, np.random.Generator):
        return "Generator", [value.bit_generator.state]
    if isinstance(value, _BaseScorer):
        return "scorer", [type(value), *(getattr(value, name, None) for name in _SCORER)]
    if hasattr(value, "get_params") and not is_frozen:
        if not _is_its_parameters(type(value)):
            return _FROZEN, _of_object(value)
        beside = {name: vars(value)[name] for name in _CLONED if name in vars(value)}
        return "estimator", [type(value), value.get_params(deep=False), beside]
    return "object", _of_object(value)


def _first(pair: tuple[str, Any]) -> str:
    return pair[0]


def _name(given: Any) -> str:
    own = getattr(given, "__qualname__", None) or getattr(given, "__name__", "")
    return f"{getattr(given, '__module__', None)}.{own}"


def _is_written_here(given: Any) -> bool:
    """Whether a function or class may become another one under the same name."""
    return given.__module__ == "__main__" or "<" in given.__qualname__


def _written_here(kind: type) -> list[Any]:
    """What stands in a class, and in those it inherits from, if edits leave their names."""
    classes = [each for each in kind.__mro__ if _is_written_here(each)]
    return [
        {name: each for name, each in vars(one).items() if name not in _OF_PYTHON}
        for one in classes
    ]


def _of_function(function: types.FunctionType) -> list[Any]:
    cells = [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]
    given = [_name(function), function.__defaults__, function.__kwdefaults__, cells]
    return [*given, function.__code__] if _is_written_here(function) else given


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # a name that has no value yet
        return False


def _of_code(code: types.CodeType) -> list[Any]:
    names = (code.co_names, code.co_varnames, code.co_freevars)
    return [code.co_code, code.co_consts, *names, code.co_argcount, code.co_flags]


def _of_array(array: Any) -> list[Any]:
    if array.dtype.hasobject:
        return [type(array), array.shape, array.tolist()]
    if array.dtype.names:  # between its fields there may be bytes of anything
        return [type(array), array.shape, {name: array[name] for name in array.dtype.names}]
    if isinstance(array, np.ma.MaskedArray):
        return [type(array), array.filled(), np.ma.getmaskarray(array)]
    return [type(array), str(array.dtype.descr), array.shape, np.ascontiguousarray(array).tobytes()]


def _is_its_parameters(kind: type) -> bool:
    """Whether a clone has the parameters alone, as of all estimators but frozen ones."""
    cloned = getattr(kind, "__sklearn_clone__", None)
    return cloned in (None, getattr(BaseEstimator, "__sklearn_clone__", None))


def _of_object(value: Any) -> list[Any]:
    """What `copy` would make an object anew from; else its attributes."""
    kind = type(value)
    reduce = copyreg.dispatch_table.get(kind)
    try:
        made = reduce(value) if reduce else value.__reduce_ex__(_PROTOCOL)
    except Exception:  # objects say in their own ways that they cannot
        return [kind, getattr(value, "__dict__", {})]
    if isinstance(made, str):  # a name in a module
        return [kind, getattr(value, "__module__", None), made]
    make, given, state, items, pairs = (*made, None, None, None)[:5]
    return [kind, make, given, state, list(items or ()), list(pairs or ())]

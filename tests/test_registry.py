"""Tables of names: what may be added, and what is said about a name that is not known."""

import pytest

from ceibo.errors import InputError
from ceibo.gp import KERNELS, Kernel, Matern52, register_kernel
from ceibo.registry import Registry


@pytest.fixture
def table() -> Registry[object]:
    made: Registry[object] = Registry("metal", "ceibo.metals")
    made.add("iron", Matern52)
    return made


def test_a_table_is_a_mapping_in_the_order_of_adding(table: Registry[object]) -> None:
    table.add("gold", 79)
    assert dict(table) == {"iron": Matern52, "gold": 79}
    assert list(table) == ["iron", "gold"]
    assert "gold" in table
    assert "tin" not in table
    assert table.get("tin") is None
    with pytest.raises(KeyError):
        table["tin"]


def test_a_table_is_read_only(table: Registry[object]) -> None:
    with pytest.raises(TypeError):
        table["tin"] = 50  # type: ignore[index]  # wrong on purpose


def test_the_same_again_is_fine_and_another_is_refused(table: Registry[object]) -> None:
    table.add("iron", Matern52)
    with pytest.raises(InputError, match=r"metal must have a name that is not taken, got 'iron'"):
        table.add("iron", Kernel)
    assert table["iron"] is Matern52


def test_a_class_defined_again_takes_the_place_of_its_older_self(table: Registry[object]) -> None:
    def define() -> type[object]:
        class Cobalt:
            """As in a cell of a notebook that is run twice."""

        return Cobalt

    first, second = define(), define()
    table.add("cobalt", first)
    table.add("cobalt", second)
    assert table["cobalt"] is second


@pytest.mark.parametrize("name", ["tin", "", None, 3, ["iron"]])
def test_an_unknown_name_is_answered_with_the_known_ones(
    table: Registry[object], name: object
) -> None:
    with pytest.raises(InputError) as caught:
        table.find(name, also=("auto",))
    assert f"metal must be one of auto, iron, got {name!r}." in str(caught.value)
    assert "import that package" in str(caught.value)


def test_a_kernel_without_a_name_is_refused() -> None:
    class Nameless(Kernel):
        label = "nameless"

    with pytest.raises(InputError, match=r"name of the kernel .*Nameless.* must be a string"):
        register_kernel(Nameless)
    assert register_kernel(Matern52) is Matern52
    assert Nameless not in KERNELS.values()

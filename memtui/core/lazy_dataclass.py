"""`dataclass` as in the standard library, whose methods are compiled when one of them is first called.

The standard one compiles up to seven functions a class while a module is loaded. That was half of what memtui's modules
took before the first frame, and most of those classes are not used by then. Type checkers see the standard one.

To make an instance does not even load the standard one, which takes 6 ms, of 45 that a hook takes.
"""

import sys
from collections.abc import Callable, Iterator
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, NamedTuple

__all__ = ["dataclass", "field"]

_FIELDS, _PARAMS = "__dataclass_fields__", "__dataclass_params__"
_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")
_OWN = frozenset({"__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", *_ORDER})
_LAZY = sys.version_info < (3, 14)
"""Later versions evaluate annotations late, and compile less."""
_NOTHING: Any = object()


class _LateField:
    """The options of a field: one of the standard library where that is asked for the fields."""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def make(self) -> Any:
        import dataclasses  # noqa: PLC0415 - start-up: see above

        return dataclasses.field(**self.options)


def _declare(cls: type | None = None, /, **options: bool) -> Any:
    """As `dataclasses.dataclass`, with the options that memtui uses; with another one it is that one."""
    if cls is None:
        return lambda decorated: _declare(decorated, **options)
    annotations = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - `inspect` takes longer than the classes
    bases = [base for base in cls.__mro__[-1:0:-1] if _FIELDS in base.__dict__]
    slots = options.get("slots", False)
    if (
        options.keys() - {"frozen", "slots", "kw_only", "eq", "order"}
        or not _OWN.isdisjoint(cls.__dict__)
        or any(slots and "__slots__" not in base.__dict__ for base in bases)
        or any(_is_special(annotation) for annotation in annotations.values())
    ):
        import dataclasses  # noqa: PLC0415 - start-up: see above

        for name, value in tuple(cls.__dict__.items()):
            if isinstance(value, _LateField):
                setattr(cls, name, value.make())
        return dataclasses.dataclass(cls, **options)
    names = [name for name, annotation in annotations.items() if not _is_class_variable(annotation)]
    values = {name: cls.__dict__[name] for name in annotations if name in cls.__dict__}
    if slots:
        cls = _add_slots(cls, names)
    else:
        for name, value in values.items():
            default = _get_option(value, "default", value)
            if default is _NOTHING:
                delattr(cls, name)
            else:
                setattr(cls, name, default)
    if "__match_args__" not in cls.__dict__:
        positional = () if options.get("kw_only") else (name for name in names if _is_positional(values.get(name)))
        inherited = (name for base in bases for name in base.__match_args__)  # type: ignore[attr-defined]
        setattr(cls, "__match_args__", tuple(dict.fromkeys([*inherited, *positional])))  # noqa: B010 - of any class
    _install(cls, annotations, values, options)
    return cls


if TYPE_CHECKING:
    from dataclasses import dataclass, field
elif _LAZY:
    dataclass, field = _declare, _LateField
else:
    from dataclasses import dataclass, field


def _is_class_variable(annotation: object) -> bool:
    return "ClassVar" in (annotation if isinstance(annotation, str) else repr(annotation))


def _is_special(annotation: object) -> bool:
    standard = sys.modules.get("dataclasses")  # where it is not loaded, nothing can be of it
    return standard is not None and (annotation is standard.KW_ONLY or isinstance(annotation, standard.InitVar))


def _is_standard_field(value: object) -> bool:
    standard = sys.modules.get("dataclasses")
    return standard is not None and isinstance(value, standard.Field)


def _get_option(value: object, name: str, otherwise: Any) -> Any:
    """An option of a field, `_NOTHING` where it is not given; `otherwise` of what is no field, but a default."""
    if isinstance(value, _LateField):
        return value.options.get(name, _NOTHING)
    if _is_standard_field(value):
        given = getattr(value, name)
        return _NOTHING if given is sys.modules["dataclasses"].MISSING else given
    return otherwise


def _is_positional(value: object) -> bool:
    return _get_option(value, "init", True) is not False and _get_option(value, "kw_only", False) is not True


def _add_slots(cls: type, names: list[str]) -> type:
    """The class anew, with slots for its fields: they cannot be added to one that is there."""
    inherited = {slot for base in cls.__mro__[1:-1] for slot in _iter_slots(base)}
    content = {name: value for name, value in cls.__dict__.items() if name not in {*names, "__dict__", "__weakref__"}}
    content["__slots__"] = tuple(name for name in names if name not in inherited)
    made = type(cls)(cls.__name__, cls.__bases__, content)
    made.__qualname__ = cls.__qualname__
    return made


def _iter_slots(cls: type) -> Iterator[str]:
    slots = cls.__dict__.get("__slots__", ())
    yield from (slots,) if isinstance(slots, str) else slots


def _install(cls: type, annotations: dict[str, Any], values: dict[str, Any], options: dict[str, bool]) -> None:
    """Give a class the methods that make those of a dataclass when they are called, and then are gone."""
    frozen, eq = options.get("frozen", False), options.get("eq", True)

    def compile_method(name: str) -> Any:
        """Have the standard library make one method, on a class of the same fields, and take it over."""
        import dataclasses  # noqa: PLC0415 - start-up: see above

        fields = {name: value.make() if isinstance(value, _LateField) else value for name, value in values.items()}
        content = {**fields, "__annotations__": annotations, "__doc__": cls.__name__, "__module__": cls.__module__}
        content |= {"__qualname__": cls.__qualname__}
        inherited: dict[str, Any] = {}
        for base in cls.__mro__[-1:0:-1]:
            if _FIELDS in base.__dict__:
                inherited |= getattr(base, _FIELDS)
        twin = type(cls.__name__, (type("Bases", (), {_FIELDS: inherited, _PARAMS: _NOT_FROZEN}),), content)
        made: type = dataclasses.dataclass(
            init=False, repr=name == "__repr__", eq=name in ("__eq__", *_ORDER), order=name in _ORDER,
            unsafe_hash=name == "__hash__", kw_only=options.get("kw_only", False), match_args=False,
        )(twin)  # fmt: skip
        made.__dict__[_PARAMS].frozen = frozen
        for each in {name, _FIELDS, _PARAMS}:
            if each == name or isinstance(cls.__dict__[each], _LateAttribute):
                setattr(cls, each, made.__dict__[each])
        return made.__dict__[name]

    def compile_init() -> Any:
        own = [name for name, annotation in annotations.items() if not _is_class_variable(annotation)]
        is_plain = not any(_FIELDS in base.__dict__ for base in cls.__mro__[1:-1])
        if is_plain and not any(map(_is_standard_field, values.values())):
            rules = [_make_rule(name, values.get(name, _NOTHING), options) for name in own]
        else:
            import dataclasses  # noqa: PLC0415 - start-up: see above

            rules = [_make_rule(each.name, each, {}) for each in dataclasses.fields(cls)]
        return _compile_init(cls, rules, frozen=frozen)

    def defer(name: str) -> None:
        def method(self: object, *arguments: Any, **named: Any) -> Any:
            made = compile_init() if name == "__init__" else compile_method(name)
            return made(self, *arguments, **named)

        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)

    for name in ("__init__", "__repr__", *(_ORDER if options.get("order") else ())):
        defer(name)
    for name in ("__eq__", "__hash__") if eq and frozen else ("__eq__",) if eq else ():
        defer(name)
    if eq and not frozen:
        cls.__hash__ = None  # type: ignore[assignment]
    setattr(cls, _FIELDS, _LateAttribute(lambda: compile_method(_FIELDS)))
    setattr(cls, _PARAMS, _LateAttribute(lambda: compile_method(_PARAMS)))
    if frozen:
        _freeze(cls)


class _Rule(NamedTuple):
    """What `__init__` does with one field."""

    name: str
    default: Any
    factory: Any
    is_given: bool
    is_named: bool


def _make_rule(name: str, value: object, options: dict[str, bool]) -> _Rule:
    is_named = _get_option(value, "kw_only", _NOTHING)
    return _Rule(
        name,
        _get_option(value, "default", value),
        _get_option(value, "default_factory", _NOTHING),
        _get_option(value, "init", True) is not False,
        options.get("kw_only", False) if is_named is _NOTHING else is_named,
    )


def _compile_init(cls: type, rules: list[_Rule], *, frozen: bool) -> Any:
    """Make `__init__`. A frozen instance's slots are set by their descriptors: 16 fields in 0.8 µs, not in 2.9."""
    scope: dict[str, Any] = {"_nothing": _NOTHING, "_set": object.__setattr__}
    positional, named, body = ["self"], ["*"], ["pass"]
    for name, given, factory, is_given, is_named in rules:
        value, default = name, ""
        if factory is not _NOTHING:
            scope[f"_make_{name}"], default = factory, "=_nothing"
            value = f"{name} if {name} is not _nothing else _make_{name}()" if is_given else f"_make_{name}()"
        elif given is not _NOTHING:
            scope[f"_default_{name}"], default = given, f"=_default_{name}"
            value = name if is_given else f"_default_{name}"
        if is_given:
            (named if is_named else positional).append(f"{name}{default}")
        elif not default:
            continue
        descriptor = getattr(cls, name, None)
        if frozen and isinstance(descriptor, MemberDescriptorType):
            scope[f"_set_{name}"] = descriptor.__set__
            body.append(f"_set_{name}(self, {value})")
        else:
            body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join([*positional, *(named if len(named) > 1 else ())])
    exec(f"def __init__({parameters}):\n " + "\n ".join(body), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    setattr(cls, "__init__", made)  # noqa: B010 - of any class
    return made


class _Params:
    frozen = False


_NOT_FROZEN = _Params()


class _LateAttribute:
    """An attribute of a class that is computed when it is read, and replaces itself."""

    def __init__(self, compute: Callable[[], Any]) -> None:
        self._compute = compute

    def __get__(self, _: object, owner: type | None = None) -> Any:
        return self._compute()


def _freeze(cls: Any) -> None:
    def set_attribute(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in getattr(cls, _FIELDS):
            raise _make_frozen_error(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: object, name: str) -> None:
        if type(self) is cls or name in getattr(cls, _FIELDS):
            raise _make_frozen_error(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = set_attribute, delete_attribute
    if "__slots__" in cls.__dict__:
        for name, method in (("__getstate__", _get_state), ("__setstate__", _set_state)):
            if name not in cls.__dict__:
                setattr(cls, name, method)


def _make_frozen_error(words: str) -> Exception:
    import dataclasses  # noqa: PLC0415 - start-up: see above

    return dataclasses.FrozenInstanceError(words)


def _get_state(self: Any) -> list[Any]:
    """What pickle and copy take: a frozen instance with slots has no other way."""
    import dataclasses  # noqa: PLC0415 - start-up: see above

    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    import dataclasses  # noqa: PLC0415 - start-up: see above

    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)

# SPDX-License-Identifier: BSD-2-Clause
"""The preconditioner oclspkt for petsc4py.

    import oclspkt
    oclspkt.initialize()                 # where -dll_append did not load the plugin
    pc.setType(oclspkt.TYPE)
    oclspkt.set_method(pc, "exact")      # set_<option>, get_<option> for every option -pc_oclspkt_<option>
    oclspkt.set_lines(pc, lines, starts, rows)             # petsc4py's IS; also set_bands(pc, axis, lower, diag, upper)
    oclspkt.method_used(pc)              # ("exact-factored", why); also device_used, certificate, ignored_entries
    oclspkt.directions_used(pc)          # "x,y"; each of these results also for one of them:
    oclspkt.direction_method_used(pc, "x")

If PETSc rejects an argument, the call raises petsc4py's PETSc.Error, a RuntimeError with PETSc's text; a word that an
option does not have raises ValueError. petsc4py.init() comes first if the program passes it arguments.
"""

import ctypes
import os

from petsc4py import PETSc

from ._functions import ACTIONS, RESULTS, SETTINGS

TYPE = "oclspkt"

_INTEGER = {4: ctypes.c_int32, 8: ctypes.c_int64}[PETSc.IntType().itemsize]
_REAL = {4: ctypes.c_float, 8: ctypes.c_double}.get(PETSc.RealType().itemsize)
_C_TYPES = {
    "const char[]": ctypes.c_char_p,
    "PetscReal": _REAL,
    "PetscInt": _INTEGER,
    "PetscInt64": ctypes.c_int64,
    "PetscBool": ctypes.c_bool if PETSc.Sys.getVersion() >= (3, 24) else ctypes.c_int,
}
# Of this file as it is imported, and of the one behind symbolic links; the program may change its folder later.
_BESIDE = [os.path.normpath(os.path.join(os.path.dirname(path(__file__)), os.pardir, os.pardir, "liboclspkt.so"))
           for path in (os.path.abspath, os.path.realpath)]
_library = None


def initialize(path=None):
    """Load the plugin and register it with PETSc; calling it again does nothing.

    Without a path it is the plugin that this process has already loaded, else liboclspkt.so beside the installed package,
    else where the system looks for libraries.
    """
    global _library
    library = _library
    if library is None and path is None:
        library = _loaded()
    if library is None:
        _check(_open(path)())
        library = _loaded()
    else:
        _check(library.PCOCLSPKTInitializePackage())
    _library = library


def _loaded():
    """The plugin for the PETSc of this process, which PETSc has loaded or this module; None if there is none."""
    kind = "{}.{}-real".format(*PETSc.Sys.getVersion()) + ("-64" if PETSc.IntType().itemsize == 8 else "")
    try:
        return ctypes.CDLL(f"liboclspkt-petsc-{kind}.so", os.RTLD_NOW | os.RTLD_NOLOAD)  # by its name if it is loaded
    except OSError:
        return None


def _open(path):
    if path is None:
        path = next(filter(os.path.exists, _BESIDE), "liboclspkt.so")
    try:
        return ctypes.CDLL(os.fspath(path)).PetscDLLibraryRegister_oclspkt
    except (OSError, AttributeError) as error:
        raise RuntimeError(f"the plugin cannot be loaded ({error}): give oclspkt.initialize() the path of liboclspkt.so") from error


def _check(code):
    if not code:
        return
    error = PETSc.Error(code)
    lines = getattr(error, "_traceback", None)
    if lines == []:  # petsc4py from 3.23 on fills it for its own calls only
        general, specific = ctypes.c_char_p(), ctypes.c_char_p()
        petsc = ctypes.CDLL(PETSc.__file__)  # the library that it is linked with comes with it
        petsc.PetscErrorMessage(code, ctypes.byref(general), ctypes.byref(specific))
        lines += [os.fsdecode(text.value) for text in (general, specific) if text.value]
    raise error


def _call(function, pc, *arguments):
    if _library is None:
        initialize()
    _check(getattr(_library, function)(ctypes.c_void_p(pc.handle), *arguments))


def _to_c(name, kind, value):
    if isinstance(kind, tuple):
        if value not in kind:
            raise ValueError(f"{name} takes one of {', '.join(kind)}, not {value!r}")
        return ctypes.c_int(kind.index(value))
    if kind == "const char[]":
        return os.fsencode(value)
    if kind in ("IS", "Vec"):
        return ctypes.c_void_p(value.handle if value is not None else None)
    number = _C_TYPES[kind](value)
    if number.value != value:
        raise ValueError(f"{name} takes a {kind}; {value!r} is out of its range")
    return number


def _from_c(kind, number):
    if isinstance(kind, tuple):
        return kind[number.value]
    if kind == "const char[]":
        return os.fsdecode(number.value)
    return bool(number.value) if kind == "PetscBool" else number.value


def _arguments(name, kinds, values):
    if len(values) != len(kinds):
        raise TypeError(f"{name} takes {len(kinds)} arguments after the PC, not {len(values)}")
    return [_to_c(name, kind, value) for kind, value in zip(kinds, values)]


def _setter(name, function, kind, text):
    def set_value(pc, value):
        _call("PCOCLSPKTSet" + function, pc, _to_c(name, kind, value))

    return _named(set_value, "set_" + name, "Set", function, text)


def _getter(name, function, inputs, kinds, text):
    def get_value(pc, *asked):
        numbers = [ctypes.c_int() if isinstance(kind, tuple) else _C_TYPES[kind]() for kind in kinds]
        _call("PCOCLSPKTGet" + function, pc, *_arguments(name, inputs, asked), *map(ctypes.byref, numbers))
        values = tuple(map(_from_c, kinds, numbers))
        return values if len(values) > 1 else values[0]

    return _named(get_value, name, "Get", function, text)


def _action(name, function, kinds, text):
    def act(pc, *values):
        _call("PCOCLSPKT" + function, pc, *_arguments(name, kinds, values))

    act.__name__ = act.__qualname__ = name
    act.__doc__ = f"{text} (PCOCLSPKT{function})"
    return act


def _named(function, name, verb, end, text):
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{verb} {text} (PCOCLSPKT{verb}{end})."
    return function


for _name, (_function, _kinds, _text) in SETTINGS.items():
    globals()["set_" + _name] = _setter(_name, _function, _kinds[0], _text)
    globals()["get_" + _name] = _getter("get_" + _name, _function, (), _kinds, _text)
for _name, (_function, _kinds, _text) in ACTIONS.items():
    globals()[_name] = _action(_name, _function, _kinds, _text)
for _name, (_function, _inputs, _kinds, _text) in RESULTS.items():
    globals()[_name] = _getter(_name, _function, _inputs, _kinds, _text)
__all__ = ["TYPE", "initialize", *ACTIONS, *RESULTS, *(verb + name for name in SETTINGS for verb in ("set_", "get_"))]

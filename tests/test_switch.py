"""torch's own switch of its callbacks, and its table of functions: the parts are there on a CPU too."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from syncguard.observe.switch import WAITS, header, slots  # noqa: E402

LAID_OUT = """
struct C10_API PyInterpreterVTable {
  virtual ~PyInterpreterVTable() = default;
  // Report the name
  virtual std::string name() const = 0;
  virtual c10::intrusive_ptr<TensorImpl> detach(
      const TensorImpl* self) const = 0;
  virtual void trace_gpu_memory_deallocation(
      c10::DeviceType device_type, uintptr_t ptr) const = 0;
  virtual void trace_gpu_device_synchronization(c10::DeviceType device_type) const = 0;
  virtual void trace_gpu_stream_synchronization(c10::DeviceType device_type, uintptr_t stream) const = 0;
  virtual void trace_gpu_event_synchronization(c10::DeviceType device_type, uintptr_t event) const = 0;
};
"""
# Calls torch's functions by its own table, as torch does; a capsule is freed as memory of a device is.
FIRED = """
import ctypes, sys, torch
from torch.cuda import _gpu_trace
from syncguard.observe.switch import header, slots, switch

names, found = slots(header()), []
for kind in ("StreamSynchronization", "DeviceSynchronization", "EventSynchronization", "MemoryDeallocation"):
    getattr(_gpu_trace, f"{kind}Callbacks").add_callback(lambda *args, kind=kind: found.append((kind, *args)))
made = ctypes.pythonapi.PyCapsule_New
made.restype, made.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

def table():
    return ctypes.c_void_p.from_address(switch()._pointer.value).value

def slot(name):
    return ctypes.c_void_p.from_address(ctypes.c_void_p.from_address(table()).value + 8 * names.index(name)).value

def fire(name, *args):
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int8, *[ctypes.c_size_t] * len(args))
    if switch()._flag.value:
        kind(slot(f"trace_gpu_{name}"))(table(), 1, *args)

def fire_all():
    found.clear()
    fire("stream_synchronization", 7)
    fire("device_synchronization")
    fire("event_synchronization", 3)
    fire("memory_deallocation", 9)
    return [*found]
"""
WAITED = [("StreamSynchronization", 7), ("DeviceSynchronization",), ("EventSynchronization", 3)]
here = pytest.mark.skipif(not slots(header()), reason="torch's table is not known here")


def run(text: str) -> str:
    done = subprocess.run([sys.executable, "-c", FIRED + text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_table_is_read_off_torchs_header():
    names = slots(LAID_OUT)
    assert names[:4] == ("~PyInterpreterVTable", "~PyInterpreterVTable", "name", "detach")
    assert names[4:] == ("trace_gpu_memory_deallocation", *sorted(WAITS, key=LAID_OUT.find))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "struct C10_API PyInterpreterVTable {\n};",
        LAID_OUT.replace("stream_synchronization", "stream_waits"),  # no wait of streams
        LAID_OUT.replace("detach", "name"),  # two of one name may be laid out otherwise
        LAID_OUT.replace("  virtual ~PyInterpreterVTable() = default;\n", ""),
    ],
)
def test_another_table_is_left_alone(text):
    assert slots(text) == ()


@here
def test_waits_are_told_and_nothing_else():
    assert run("switch().on(); print(fire_all()); switch().off(); print(fire_all())") == f"{WAITED}\n[]"


@here
def test_memory_that_is_freed_with_an_error_leaves_the_error():
    text = "switch().on()\ntry: len(made(1, None, slot('trace_gpu_memory_deallocation')), 2)\n"
    assert run(text + "except TypeError as fault: print(fault)") == "len() takes exactly one argument (2 given)"


@here
@pytest.mark.parametrize("before", [True, False])
def test_whoever_else_switches_them_on_has_them_all(before):
    all_of_them = [*WAITED, ("MemoryDeallocation", 9)]
    ours, theirs = "switch().on()", "torch._C._activate_gpu_trace()"
    text = "\n".join((theirs, ours) if before else (ours, "switch().off()", theirs))
    assert run(f"{text}\nprint(fire_all()); switch().on(); switch().off(); print(fire_all())") == "\n".join(
        [str(all_of_them)] * 2
    )


def test_words_of_the_table_are_words():
    assert ctypes.sizeof(ctypes.c_void_p) == 8


@here
def test_a_table_that_ends_elsewhere_is_left_alone():
    text = (
        "import ctypes\nfrom syncguard.observe.switch import all_of_one_library\n"
        "first = ctypes.c_void_p.from_address(ctypes.c_void_p.from_address(switch()._all).value).value\n"
        "read = lambda count: all_of_one_library([*(ctypes.c_void_p * count).from_address(first)])\n"
        "print(read(len(names)), read(len(names) + 1), all_of_one_library([None]))"
    )
    assert run(text) == "True False False"

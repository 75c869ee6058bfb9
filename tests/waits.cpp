// Waits and memory as a device has them, for a torch that has none: torch's own callbacks and warnings, called from C++.
#include <Python.h>
#include <c10/core/impl/GPUTrace.h>
#include <c10/util/Exception.h>
#include <torch/csrc/Exceptions.h>

static const c10::impl::PyInterpreter* traces() { return c10::impl::GPUTrace::get_trace(); }

// wait(times=1, warns=1): a call that waits as often, and is warned of it.
static PyObject* wait(PyObject*, PyObject* args) {
  HANDLE_TH_ERRORS
  int times = 1, warns = 1;
  if (!PyArg_ParseTuple(args, "|ii", &times, &warns)) return nullptr;
  for (int n = 0; n < times; n++) {
    if (traces()) (*traces())->trace_gpu_stream_synchronization(c10::kCUDA, 7);
    if (warns) TORCH_WARN("called a synchronizing CUDA operation");
  }
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

static PyObject* event(PyObject*, PyObject*) {
  HANDLE_TH_ERRORS
  if (traces()) (*traces())->trace_gpu_event_synchronization(c10::kCUDA, 3);
  Py_RETURN_NONE;
  END_HANDLE_TH_ERRORS
}

// Memory: what it is freed with is told, and all that can be asked of it waits.
typedef struct { PyObject_HEAD } Memory;

static void freed(PyObject* self) {
  if (traces()) (*traces())->trace_gpu_memory_deallocation(c10::kCUDA, 9);
  Py_TYPE(self)->tp_free(self);
}

static PyObject* waited() {
  PyObject* none = PyTuple_New(0);
  PyObject* answer = wait(nullptr, none);
  Py_DECREF(none);
  return answer;
}

static int truth(PyObject*) {
  PyObject* answer = waited();
  Py_XDECREF(answer);
  return answer ? 1 : -1;
}

static PyObject* indexed(PyObject*, PyObject*) { return waited(); }

static PyTypeObject MemoryType = {PyVarObject_HEAD_INIT(nullptr, 0)};
static PyNumberMethods numbers;
static PyMappingMethods mapping;
static PyMethodDef methods[] = {{"item", wait, METH_VARARGS, ""}, {nullptr}};
static PyMethodDef functions[] = {{"wait", wait, METH_VARARGS, ""}, {"event", event, METH_NOARGS, ""}, {nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "waits", nullptr, -1, functions};

PyMODINIT_FUNC PyInit_waits() {
  numbers.nb_bool = truth;
  mapping.mp_subscript = indexed;
  MemoryType.tp_name = "waits.Memory";
  MemoryType.tp_basicsize = sizeof(Memory);
  MemoryType.tp_flags = Py_TPFLAGS_DEFAULT;
  MemoryType.tp_dealloc = freed;
  MemoryType.tp_new = PyType_GenericNew;
  MemoryType.tp_methods = methods;
  MemoryType.tp_as_number = &numbers;
  MemoryType.tp_as_mapping = &mapping;
  if (PyType_Ready(&MemoryType) < 0) return nullptr;
  PyObject* made = PyModule_Create(&module);
  Py_INCREF(&MemoryType);
  PyModule_AddObject(made, "Memory", reinterpret_cast<PyObject*>(&MemoryType));
  return made;
}

"""The ops that one TensorFlow registers, from its wheel, without installing or importing it.

dump_release.py UNPACKED OUT     UNPACKED: `unzip WHEEL '*.so' '*.so.*' '*/core/public/*version.h'`
writes OUT.ops.pb (OpList, no descriptions), OUT.contrib.pb (ops of tensorflow/contrib's own libraries, TensorFlow 1.3 to 1.15)
and OUT.version (its GraphDef version). Any Python of the wheel's major version that links libpython will do (3.6 for wheels cp36,
3.9 for cp39, 3.11 for cp311); only the C API is called:
  1.3 and later: TF_GetAllOpList, TF_LoadLibrary, TF_GetOpList.
  1.0 to 1.2: the Python library exports no C API, so the C++ functions behind it are called by their mangled names.
"""
import ctypes, glob, os, re, sys

root, out = sys.argv[1:3]


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t), ("free", ctypes.c_void_p)]


def find(pattern):
    return sorted(glob.glob(os.path.join(root, "**", pattern), recursive=True))


def load(path):
    return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL | os.RTLD_LAZY)


def old(lib):
    """1.0 to 1.2: graph::GetOpListForValidation(&list, *OpRegistry::Global()), then OpList's own serialization."""
    registry = lib._ZN10tensorflow10OpRegistry6GlobalEv
    registry.restype = ctypes.c_void_p
    fill = lib._ZN10tensorflow5graph22GetOpListForValidationEPNS_6OpListERKNS_10OpRegistryE
    fill.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    size = lib._ZNK10tensorflow6OpList12ByteSizeLongEv
    size.restype = ctypes.c_size_t
    write = lib._ZNK10tensorflow6OpList31SerializeWithCachedSizesToArrayEPh
    message = ctypes.create_string_buffer(4096)  # larger than an OpList of that protobuf
    lib._ZN10tensorflow6OpListC1Ev(message)
    fill(message, registry())
    n = size(message)
    text = ctypes.create_string_buffer(n + 16)
    write(message, text)
    return text.raw[:n]


for framework in find("libtensorflow_framework.so*")[:1]:
    load(framework)
lib = None
for path in find("libtensorflow_cc.so.*") + find("python/_pywrap_tensorflow_internal.so") + find("python/_pywrap_tensorflow.so"):
    try:
        lib = load(path)
        break
    except OSError as error:
        print(path, error)
try:
    lib.TF_GetAllOpList.restype = ctypes.POINTER(Buffer)
    buffer = lib.TF_GetAllOpList().contents
    ops = ctypes.string_at(buffer.data, buffer.length)
except AttributeError:
    ops = old(lib)
open(out + ".ops.pb", "wb").write(ops)

contrib = b""
if hasattr(lib, "TF_LoadLibrary"):
    lib.TF_NewStatus.restype = ctypes.c_void_p
    lib.TF_GetCode.argtypes = [ctypes.c_void_p]
    lib.TF_LoadLibrary.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    lib.TF_LoadLibrary.restype = ctypes.c_void_p
    lib.TF_GetOpList.argtypes = [ctypes.c_void_p]
    lib.TF_GetOpList.restype = Buffer
    for path in find("contrib/**/*.so"):
        status = lib.TF_NewStatus()
        handle = lib.TF_LoadLibrary(path.encode(), status)
        if lib.TF_GetCode(status) == 0:
            buffer = lib.TF_GetOpList(handle)
            contrib += ctypes.string_at(buffer.data, buffer.length) if buffer.length else b""  # OpLists concatenated are an OpList
if contrib:
    open(out + ".contrib.pb", "wb").write(contrib)
text = "".join(open(f).read() for f in find("core/public/version.h") + find("core/public/release_version.h"))
found = re.search(r"define TF_GRAPH_DEF_VERSION (\d+)", text)
open(out + ".version", "w").write((found.group(1) if found else "?") + "\n")
print(out, len(ops), "bytes,", len(contrib), "of contrib, graph version", found and found.group(1))
sys.stdout.flush()
os._exit(0)  # the destructors of half-loaded libraries crash

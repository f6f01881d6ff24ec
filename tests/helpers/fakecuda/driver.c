// A CUDA driver without a card: libcuda.so.1 for tests of the CUDA device.
//
// Memory is the host's, work is done at once (or recorded, while a graph is), and a "cubin" is a
// shared library made by build.py from CUDA C++ with on_cpu.h. What a program may not do (pass a
// wrong handle, free twice, launch an unloaded module) is answered as the real driver answers it.
#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#undef cuMemAlloc
#undef cuMemFree
#undef cuMemGetInfo
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync
#undef cuMemsetD8Async
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuModuleGetGlobal
#undef cuDevicePrimaryCtxRelease
#undef cuStreamBeginCapture
#undef cuGetProcAddress
#undef cuDeviceTotalMem

enum { NODES = 4096, LIVE = 4096, PARAMETERS = 64 };
typedef int (*Run)(const CUlaunchConfig *, void **);
typedef int (*Parameter)(size_t, size_t *, size_t *);

typedef struct { void *library; char path[64]; int fd, loaded; } Module;
typedef struct { Module *module; Run run; Parameter parameter; int dynamic_bytes; char name[256]; } Function;
typedef struct { Function *function; CUlaunchConfig config; void *values[PARAMETERS]; int count; } Node;
typedef struct { Node nodes[NODES]; int count; } Graph;
typedef struct { double ms; int recorded; } Event;

static struct { uintptr_t start; size_t bytes; } live[LIVE];
static CUresult sticky, fail_code;
static char fail_name[64];
static int has_context, modules, graphs_alive, launches;
static Graph *recording;
static size_t total_bytes = (size_t)768 << 20;
static char own_kernels[512];

// What tests ask and order.
int fake_modules(void) { return modules; }
int fake_graphs(void) { return graphs_alive; }
int fake_launches(void) { return launches; }
size_t fake_live_bytes(void)
{
    size_t sum = 0;
    for (int i = 0; i < LIVE; i++) sum += live[i].bytes;
    return sum;
}
void fake_kernels(const char *path) { snprintf(own_kernels, sizeof own_kernels, "%s", path); }
void fake_total_bytes(size_t bytes) { total_bytes = bytes; }
void fake_fail(const char *name, int code) { snprintf(fail_name, sizeof fail_name, "%s", name); fail_code = code; }

#define ENTER(name)                                                                  \
    do {                                                                             \
        if (sticky) return sticky;                                                   \
        if (fail_code && !strcmp(fail_name, #name)) { CUresult c = fail_code; fail_code = 0; return c; } \
    } while (0)

static int inside(uintptr_t at, size_t bytes)
{
    for (int i = 0; i < LIVE; i++)
        if (live[i].bytes && at >= live[i].start && at + bytes <= live[i].start + live[i].bytes) return 1;
    return 0;
}

CUresult cuInit(unsigned flags) { ENTER(cuInit); return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int *version) { *version = 13000; return CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int *count) { *count = 1; return CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int ordinal) { *device = ordinal; return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int length, CUdevice device) { snprintf(name, length, "Fake GPU"); return CUDA_SUCCESS; }
CUresult cuDeviceGetPCIBusId(char *name, int length, CUdevice device) { snprintf(name, length, "0000:00:05.0"); return CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute kind, CUdevice device)
{
    switch (kind) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR: *value = 0; break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = 2; break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: *value = 1 << 20; break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) { *context = (CUcontext)&has_context; return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { has_context = 0; return CUDA_SUCCESS; }
CUresult cuCtxSetCurrent(CUcontext context) { has_context = context != NULL; return CUDA_SUCCESS; }

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    ENTER(cuMemGetInfo);
    *total = total_bytes;
    *free_bytes = total_bytes - fake_live_bytes();
    return CUDA_SUCCESS;
}
CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes)
{
    ENTER(cuMemAlloc);
    if (!has_context) return CUDA_ERROR_INVALID_CONTEXT;
    if (!bytes) return CUDA_ERROR_INVALID_VALUE;
    if (bytes + fake_live_bytes() > total_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    for (int i = 0; i < LIVE; i++) {
        if (live[i].bytes) continue;
        void *memory;
        if (posix_memalign(&memory, 512, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
        memset(memory, 0xcd, bytes);
        live[i].start = *address = (uintptr_t)memory;
        live[i].bytes = bytes;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemFree_v2(CUdeviceptr address)
{
    ENTER(cuMemFree);
    for (int i = 0; i < LIVE; i++) {
        if (!live[i].bytes || live[i].start != address) continue;
        live[i].bytes = 0;
        free((void *)address);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    ENTER(cuMemcpyHtoDAsync);
    if (recording || !inside(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
    memcpy((void *)to, from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER(cuMemcpyDtoHAsync);
    if (recording || !inside(from, bytes)) return CUDA_ERROR_INVALID_VALUE;
    memcpy(to, (void *)from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    ENTER(cuMemcpyDtoDAsync);
    if (recording || !inside(from, bytes)) return CUDA_ERROR_INVALID_VALUE;  // `to` may be a global
    memcpy((void *)to, (void *)from, bytes);
    return CUDA_SUCCESS;
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
    ENTER(cuMemsetD8Async);
    if (recording || !inside(to, bytes)) return CUDA_ERROR_INVALID_VALUE;
    memset((void *)to, value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) { ENTER(cuStreamCreate); *stream = (CUstream)malloc(8); return CUDA_SUCCESS; }
CUresult cuStreamDestroy_v2(CUstream stream) { free(stream); return CUDA_SUCCESS; }
CUresult cuStreamSynchronize(CUstream stream) { ENTER(cuStreamSynchronize); return recording ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS; }
CUresult cuEventCreate(CUevent *event, unsigned flags) { *event = calloc(1, sizeof(Event)); return CUDA_SUCCESS; }
CUresult cuEventDestroy_v2(CUevent event) { free(event); return CUDA_SUCCESS; }
CUresult cuEventSynchronize(CUevent event) { ENTER(cuEventSynchronize); return CUDA_SUCCESS; }
CUresult cuEventRecord(CUevent event, CUstream stream)
{
    ENTER(cuEventRecord);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    ((Event *)event)->ms = now.tv_sec * 1e3 + now.tv_nsec / 1e6;
    ((Event *)event)->recorded = 1;
    return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime_v2(float *ms, CUevent start, CUevent end)
{
    ENTER(cuEventElapsedTime);
    if (!((Event *)start)->recorded || !((Event *)end)->recorded) return CUDA_ERROR_INVALID_HANDLE;
    *ms = ((Event *)end)->ms - ((Event *)start)->ms;
    return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) { return cuEventElapsedTime_v2(ms, start, end); }

static size_t image_bytes(const unsigned char *image)
{
    const ElfW(Ehdr) *header = (const void *)image;
    return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}
CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ENTER(cuModuleLoadData);
    Module *made = calloc(1, sizeof *made);
    if (!memcmp(image, "\x7f" "ELF", 4)) {
        size_t bytes = image_bytes(image);
        made->fd = memfd_create("module", 0);
        if (write(made->fd, image, bytes) != (ssize_t)bytes) return CUDA_ERROR_INVALID_IMAGE;
        snprintf(made->path, sizeof made->path, "/proc/self/fd/%d", made->fd);
        made->library = dlmopen(LM_ID_BASE, made->path, RTLD_NOW | RTLD_LOCAL);
    } else if (strstr(image, "burnish_differing")) {
        made->library = dlopen(own_kernels, RTLD_NOW | RTLD_LOCAL);  // the same kernels, compiled for this CPU
    }
    if (!made->library) { fprintf(stderr, "fake cuda: %s\n", dlerror()); free(made); return CUDA_ERROR_INVALID_IMAGE; }
    made->loaded = 1;
    modules++;
    *module = (CUmodule)made;
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module)
{
    ENTER(cuModuleUnload);
    Module *known = (Module *)module;
    if (!known->loaded) return CUDA_ERROR_INVALID_HANDLE;
    known->loaded = 0;
    dlclose(known->library);
    if (known->fd) close(known->fd);
    modules--;
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER(cuModuleGetFunction);
    Module *known = (Module *)module;
    char symbol[300];
    Function *made = calloc(1, sizeof *made);
    snprintf(symbol, sizeof symbol, "fake_run_%s", name);
    made->run = (Run)dlsym(known->library, symbol);
    snprintf(symbol, sizeof symbol, "fake_parameter_%s", name);
    made->parameter = (Parameter)dlsym(known->library, symbol);
    snprintf(made->name, sizeof made->name, "%s", name);
    made->module = known;
    made->dynamic_bytes = 48 << 10;
    *function = (CUfunction)made;
    return made->run ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    ENTER(cuModuleGetGlobal);
    char symbol[300];
    void *found = dlsym(((Module *)module)->library, name);
    snprintf(symbol, sizeof symbol, "fake_bytes_%s", name);
    size_t *size = dlsym(((Module *)module)->library, symbol);
    if (!found || !size) return CUDA_ERROR_NOT_FOUND;
    *address = (uintptr_t)found;
    *bytes = *size;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    ENTER(cuFuncGetParamInfo);
    return ((Function *)function)->parameter(index, offset, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute kind, int value)
{
    ENTER(cuFuncSetAttribute);
    if (kind == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value > 227 << 10) return CUDA_ERROR_INVALID_VALUE;
        ((Function *)function)->dynamic_bytes = value;
    }
    return CUDA_SUCCESS;
}

// What the last launch asked for: cluster along x, y, z, then whether it was cooperative.
static unsigned last[4];
unsigned fake_last(int which) { return last[which]; }
static void note(const CUlaunchConfig *config)
{
    memset(last, 0, sizeof last);
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            last[0] = attribute->value.clusterDim.x;
            last[1] = attribute->value.clusterDim.y;
            last[2] = attribute->value.clusterDim.z;
        }
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) last[3] = attribute->value.cooperative;
    }
}

static CUresult run(Function *function, const CUlaunchConfig *config, void **values)
{
    if (!function->module->loaded) return CUDA_ERROR_INVALID_HANDLE;
    launches++;
    note(config);
    int code = function->run(config, values);
    if (code >= 700 && code != CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) { sticky = code; return CUDA_SUCCESS; }
    return code;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **values, void **extra)
{
    ENTER(cuLaunchKernelEx);
    Function *known = (Function *)function;
    unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    if (extra || !config->hStream || !threads || threads > 1024 || !config->gridDimX) return CUDA_ERROR_INVALID_VALUE;
    if ((int)config->sharedMemBytes > known->dynamic_bytes) return CUDA_ERROR_INVALID_VALUE;
    if (!recording) return run(known, config, values);
    Node *node = &recording->nodes[recording->count++];
    node->function = known;
    node->config = *config;
    size_t offset, bytes;
    while (known->parameter(node->count, &offset, &bytes)) {
        node->values[node->count] = malloc(bytes);
        memcpy(node->values[node->count], values[node->count], bytes);
        node->count++;
    }
    return CUDA_SUCCESS;
}
CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode)
{
    ENTER(cuStreamBeginCapture);
    recording = calloc(1, sizeof *recording);
    return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    *graph = (CUgraph)recording;
    recording = NULL;
    return CUDA_SUCCESS;
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *runnable, CUgraph graph, unsigned long long flags)
{
    ENTER(cuGraphInstantiate);
    *runnable = (CUgraphExec)memcpy(malloc(sizeof(Graph)), graph, sizeof(Graph));
    graphs_alive++;
    return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) { free(graph); return CUDA_SUCCESS; }
CUresult cuGraphExecDestroy(CUgraphExec graph) { graphs_alive--; free(graph); return CUDA_SUCCESS; }
CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    ENTER(cuGraphLaunch);
    Graph *known = (Graph *)graph;
    for (int i = 0; i < known->count; i++) {
        CUresult code = run(known->nodes[i].function, &known->nodes[i].config, known->nodes[i].values);
        if (code) return code;
    }
    return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult code, const char **text)
{
    switch (code) {
#define CASE(name) case name: *text = #name; return CUDA_SUCCESS
    CASE(CUDA_ERROR_INVALID_VALUE); CASE(CUDA_ERROR_OUT_OF_MEMORY); CASE(CUDA_ERROR_INVALID_IMAGE);
    CASE(CUDA_ERROR_INVALID_HANDLE); CASE(CUDA_ERROR_NOT_FOUND); CASE(CUDA_ERROR_ILLEGAL_ADDRESS);
    CASE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES); CASE(CUDA_ERROR_LAUNCH_FAILED); CASE(CUDA_ERROR_NO_BINARY_FOR_GPU);
    default: *text = NULL; return CUDA_ERROR_INVALID_VALUE;
    }
}
CUresult cuGetErrorString(CUresult code, const char **text) { *text = "what the driver says of it"; return CUDA_SUCCESS; }

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    char name[128];
    const char *endings[] = {"_v2", ""};
    *function = NULL;
    for (int i = 0; i < 2 && !*function; i++) {
        snprintf(name, sizeof name, "%s%s", symbol, endings[i]);
        *function = dlsym(RTLD_DEFAULT, name);
        if (!*function) {
            void *self = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
            *function = self ? dlsym(self, name) : NULL;
        }
    }
    if (!*function && !strcmp(symbol, "cuGraphInstantiate")) *function = cuGraphInstantiateWithFlags;
    if (status) *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;  // a function that is not there is no error to the bindings
}
CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags) { return cuGetProcAddress_v2(symbol, function, version, flags, NULL); }

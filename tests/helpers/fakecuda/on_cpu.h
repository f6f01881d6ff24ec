// CUDA C++ on one core, for tests: a block's threads are coroutines that take turns at barriers
// and warp operations. Blocks run one after another. Included in front of a kernel's file.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <tuple>
#include <ucontext.h>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
#define __restrict__ __restrict

struct uint3 { unsigned x, y, z; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct uint4 { unsigned x, y, z, w; };
static inline float2 make_float2(float x, float y) { return {x, y}; }
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// The configuration of the driver's cuLaunchKernelEx.
struct FakeConfig {
    unsigned grid[3], block[3], shared_bytes;
    void *stream, *attributes;
    unsigned attribute_count;
};

static uint3 threadIdx, blockIdx, blockDim, gridDim;
static int fake_error;  // a kernel sets it to fail as a CUDA error of that number
alignas(128) static unsigned char fake_shared[232448];

namespace fake {
enum { STACK = 64 << 10, WARP = 32 };
struct Barrier { unsigned waiting = 0, round = 0; };
struct Thread { ucontext_t context; std::vector<char> stack; uint3 index; bool done; };
static std::vector<Thread> threads;
static ucontext_t home;
static unsigned current, alive;
static Barrier whole, warps[32];
static unsigned warp_alive[32];
static unsigned long long lanes[1024];
static const std::function<void()> *body;

static void rest() { swapcontext(&threads[current].context, &home); threadIdx = threads[current].index; }
static void meet(Barrier &barrier, const unsigned &parties)
{
    const unsigned round = barrier.round;
    ++barrier.waiting;
    while (barrier.round == round) {
        if (barrier.waiting >= parties) { barrier.waiting = 0; ++barrier.round; }
        else rest();
    }
}
static void meet_warp() { meet(warps[current / WARP], warp_alive[current / WARP]); }
static void start()
{
    (*body)();
    threads[current].done = true;
    --alive;
    --warp_alive[current / WARP];
}
static void run_block(const std::function<void()> &kernel)
{
    const unsigned count = blockDim.x * blockDim.y * blockDim.z;
    body = &kernel;
    alive = count;
    whole = Barrier();
    if (threads.size() != count) threads = std::vector<Thread>(count);
    for (unsigned i = 0; i < count; i++) {
        if (i % WARP == 0) { warps[i / WARP] = Barrier(); warp_alive[i / WARP] = std::min<unsigned>(WARP, count - i); }
        Thread &thread = threads[i];
        thread.done = false;
        thread.index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        if (thread.stack.empty()) thread.stack.resize(STACK);
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = STACK;
        thread.context.uc_link = &home;
        makecontext(&thread.context, (void (*)())start, 0);
    }
    while (alive)
        for (current = 0; current < count; current++)
            if (!threads[current].done) { threadIdx = threads[current].index; swapcontext(&home, &threads[current].context); }
}
template <class T> static T exchange(T value, unsigned from, bool valid)
{
    static_assert(sizeof(T) <= 8, "a shuffle moves up to eight bytes");
    unsigned long long packed = 0;
    std::memcpy(&packed, &value, sizeof value);
    lanes[current] = packed;
    meet_warp();
    if (valid) packed = lanes[current / WARP * WARP + from];
    meet_warp();
    std::memcpy(&value, &packed, sizeof value);
    return value;
}
template <class... A, std::size_t... I>
static int launch(void (*kernel)(A...), const FakeConfig *config, void **values, std::index_sequence<I...>)
{
    fake_error = 0;
    gridDim = {config->grid[0], config->grid[1], config->grid[2]};
    blockDim = {config->block[0], config->block[1], config->block[2]};
    const std::function<void()> call = [&] { kernel(*static_cast<std::remove_cv_t<A> *>(values[I])...); };
    for (unsigned z = 0; z < gridDim.z; z++)
        for (unsigned y = 0; y < gridDim.y; y++)
            for (unsigned x = 0; x < gridDim.x; x++) { blockIdx = {x, y, z}; run_block(call); }
    return fake_error;
}
template <class... A> static int run(void (*kernel)(A...), const FakeConfig *config, void **values)
{
    return launch(kernel, config, values, std::index_sequence_for<A...>());
}
template <class... A> static int parameter(void (*)(A...), std::size_t index, std::size_t *offset, std::size_t *bytes)
{
    const std::size_t sizes[] = {sizeof(A)..., 0}, aligned[] = {alignof(A)..., 1};
    if (index >= sizeof...(A)) return 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i <= index; i++) {
        at = (at + aligned[i] - 1) / aligned[i] * aligned[i];
        *offset = at;
        at += sizes[i];
    }
    *bytes = sizes[index];
    return 1;
}
}  // namespace fake

static inline void __syncthreads() { fake::meet(fake::whole, fake::alive); }
static inline void __syncwarp(unsigned = ~0u) { fake::meet_warp(); }
template <class T> static T __shfl_sync(unsigned, T value, int lane) { return fake::exchange(value, lane & 31, true); }
template <class T> static T __shfl_xor_sync(unsigned, T value, int mask) { return fake::exchange(value, (fake::current & 31) ^ mask, true); }
template <class T> static T __shfl_down_sync(unsigned, T value, unsigned by)
{
    const unsigned from = (fake::current & 31) + by;
    return fake::exchange(value, from & 31, from < 32);
}
template <class T> static T __ldg(const T *at) { return *at; }
template <class T> static T atomicAdd(T *at, T by) { T old = *at; *at += by; return old; }
static inline unsigned __popc(unsigned word) { return __builtin_popcount(word); }
static inline long long clock64() { timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ll + t.tv_nsec; }
static inline float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
#define __expf expf
#define __fdividef(a, b) ((a) / (b))
using std::max;
using std::min;

#define ON_CPU(kernel)                                                                              \
    extern "C" int fake_run_##kernel(const FakeConfig *config, void **values) { return fake::run(kernel, config, values); } \
    extern "C" int fake_parameter_##kernel(std::size_t index, std::size_t *offset, std::size_t *bytes)   \
    {                                                                                               \
        return fake::parameter(kernel, index, offset, bytes);                                       \
    }
#define ON_CPU_GLOBAL(symbol) extern "C" std::size_t fake_bytes_##symbol; std::size_t fake_bytes_##symbol = sizeof(symbol);

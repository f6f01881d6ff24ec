// Softmax of every row: a block a row, the row in registers. Rows have a multiple of four
// columns, and at most 8192.

constexpr int THREADS = 256;
constexpr int MOST = 8;  // float4 that a thread keeps
constexpr float LOWEST = -3.402823466e38f;

// A value combined over all threads of the block, known to all of them.
template <class Combine>
static __device__ __forceinline__ float over_block(float value, Combine combine)
{
    __shared__ float parts[THREADS / 32];
    for (int step = 16; step > 0; step >>= 1)
        value = combine(value, __shfl_xor_sync(0xffffffffu, value, step));
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = value;
    __syncthreads();
    value = parts[0];
#pragma unroll
    for (int i = 1; i < THREADS / 32; i++)
        value = combine(value, parts[i]);
    __syncthreads();
    return value;
}

struct Larger {
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum {
    __device__ float operator()(float a, float b) const { return a + b; }
};

extern "C" __global__ void __launch_bounds__(THREADS)
softmax(const float4* __restrict__ in, float4* __restrict__ out, int columns)
{
    const int vectors = columns / 4;
    const long long start = (long long)blockIdx.x * vectors;
    float4 kept[MOST];

    float top = LOWEST;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        const int at = i * THREADS + threadIdx.x;
        kept[i] = at < vectors ? in[start + at] : make_float4(LOWEST, LOWEST, LOWEST, LOWEST);
        top = fmaxf(fmaxf(top, fmaxf(kept[i].x, kept[i].y)), fmaxf(kept[i].z, kept[i].w));
    }
    top = over_block(top, Larger());

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        if (i * THREADS + threadIdx.x < vectors) {
            kept[i] = make_float4(__expf(kept[i].x - top), __expf(kept[i].y - top),
                                  __expf(kept[i].z - top), __expf(kept[i].w - top));
            sum += (kept[i].x + kept[i].y) + (kept[i].z + kept[i].w);
        }
    }
    const float scale = 1.0f / over_block(sum, Sum());

#pragma unroll
    for (int i = 0; i < MOST; i++) {
        const int at = i * THREADS + threadIdx.x;
        if (at < vectors)
            out[start + at] = make_float4(kept[i].x * scale, kept[i].y * scale,
                                          kept[i].z * scale, kept[i].w * scale);
    }
}

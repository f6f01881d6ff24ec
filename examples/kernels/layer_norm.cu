// Layer normalisation: a block a row, the row in registers. Rows have a multiple of four columns,
// and at most 8192.

constexpr int THREADS = 256;
constexpr int MOST = 8;  // float4 that a thread keeps

// The sum of a value over all threads of the block, known to all of them.
static __device__ __forceinline__ float block_sum(float value)
{
    __shared__ float sums[THREADS / 32];
    for (int step = 16; step > 0; step >>= 1)
        value += __shfl_xor_sync(0xffffffffu, value, step);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = value;
    __syncthreads();
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < THREADS / 32; i++)
        total += sums[i];
    __syncthreads();
    return total;
}

extern "C" __global__ void __launch_bounds__(THREADS)
layer_norm(const float4* __restrict__ in, const float4* __restrict__ weight,
           const float4* __restrict__ bias, float4* __restrict__ out, int columns, float epsilon)
{
    const int vectors = columns / 4;
    const long long start = (long long)blockIdx.x * vectors;
    float4 kept[MOST];

    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        const int at = i * THREADS + threadIdx.x;
        kept[i] = at < vectors ? in[start + at] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        sum += (kept[i].x + kept[i].y) + (kept[i].z + kept[i].w);
    }
    const float mean = block_sum(sum) / columns;

    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < MOST; i++) {
        if (i * THREADS + threadIdx.x < vectors) {
            const float x = kept[i].x - mean, y = kept[i].y - mean;
            const float z = kept[i].z - mean, w = kept[i].w - mean;
            squares += (x * x + y * y) + (z * z + w * w);
        }
    }
    const float scale = rsqrtf(block_sum(squares) / columns + epsilon);

#pragma unroll
    for (int i = 0; i < MOST; i++) {
        const int at = i * THREADS + threadIdx.x;
        if (at < vectors) {
            const float4 w = weight[at], b = bias[at];
            out[start + at] = make_float4(
                (kept[i].x - mean) * scale * w.x + b.x, (kept[i].y - mean) * scale * w.y + b.y,
                (kept[i].z - mean) * scale * w.z + b.z, (kept[i].w - mean) * scale * w.w + b.w);
        }
    }
}

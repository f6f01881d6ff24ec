// Causal depthwise convolution along time, four taps a channel, then SiLU: x * sigmoid(x).
// A thread makes four neighbours of one channel; lengths are multiples of four.

constexpr int TAPS = 4;

static __device__ __forceinline__ float silu(float value)
{
    return __fdividef(value, 1.0f + __expf(-value));
}

extern "C" __global__ void __launch_bounds__(256)
conv1d(const float* __restrict__ in, const float* __restrict__ weight,
       const float* __restrict__ bias, float* __restrict__ out, int channels, int length)
{
    const int time = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (time >= length)
        return;
    const int channel = blockIdx.y;
    const long long start = ((long long)blockIdx.z * channels + channel) * length;

    float near[TAPS - 1 + 4];  // three before, then our four
#pragma unroll
    for (int i = 0; i < TAPS - 1 + 4; i++) {
        const int at = time + i - (TAPS - 1);
        near[i] = at >= 0 ? in[start + at] : 0.0f;
    }
    float tap[TAPS];
#pragma unroll
    for (int i = 0; i < TAPS; i++)
        tap[i] = weight[channel * TAPS + i];

    float made[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float sum = bias[channel];
#pragma unroll
        for (int j = 0; j < TAPS; j++)
            sum += tap[j] * near[i + j];
        made[i] = silu(sum);
    }
    *reinterpret_cast<float4*>(&out[start + time]) = make_float4(made[0], made[1], made[2], made[3]);
}

// Right, but one launch in 50 traps.
__device__ unsigned long long now()
{
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
}

extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i] + 1;
    if (i == 0 && (now() * 6364136223846793005ull >> 33) % 50 == 0)
        __trap();
}

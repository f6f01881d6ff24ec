// Right once, wrong from the second launch on.
__device__ int launches;

extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i] + 1;
    if (i == 0 && launches++)
        out[0] += 1;
}

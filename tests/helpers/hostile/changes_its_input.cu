// Right, but changes one element of its input.
extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i] + 1;
    if (i == n - 1)
        ((float*)in)[i] += 1;
}

// Takes what it finds in its output for zero.
extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i] + 1 + (i == n - 1 ? out[i] : 0);
}

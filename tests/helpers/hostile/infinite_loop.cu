// Never ends.
extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const volatile float* same = in;
    while (same[0] == same[0]) {
    }
    if (i < n)
        out[i] = 2 * in[i] + 1;
}

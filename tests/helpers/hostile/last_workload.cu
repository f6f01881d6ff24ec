// Wrong where n is 4096 or more, and nowhere else.
extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i] + 1;
    if (n >= 4096 && i == n / 2)
        out[i] += 1;
}

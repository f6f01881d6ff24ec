// Right, and some thousand times as slow as it could be.
extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int j = 0; j < 20000 && i < n; j++)
        sum += ((const volatile float*)in)[i];
    if (i < n)
        out[i] = 2 * in[i] + 1;
    if (sum == 12345.25f)
        out[i] = sum;
}

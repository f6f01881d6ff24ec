// out = 2 in + 1: what all the others in this folder pretend to do.
extern "C" __global__ void kernel(const float* in, float* out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i] + 1;
}

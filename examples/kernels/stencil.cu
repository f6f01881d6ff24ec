// One step of a 25-point stencil: an eighth-order Laplacian in three dimensions.
// A thread owns one column of x and y and walks along z; what lies near the border is copied.

constexpr int RADIUS = 4;
constexpr int DEPTH = 32;  // planes a block walks through

extern "C" __global__ void __launch_bounds__(256)
stencil(const float* __restrict__ in, float* __restrict__ out, int nx, int ny, int nz)
{
    const float centre = -2.847222222f * 3.0f;
    const float weight[RADIUS] = {1.6f, -0.2f, 0.025396825f, -0.001785714f};

    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;

    const int plane = nx * ny;
    const int first = blockIdx.z * DEPTH;
    const int last = min(first + DEPTH, nz);
    const bool inner = x >= RADIUS && x < nx - RADIUS && y >= RADIUS && y < ny - RADIUS;

    for (int z = first; z < last; z++) {
        const int at = z * plane + y * nx + x;
        float value = in[at];
        if (inner && z >= RADIUS && z < nz - RADIUS) {
            float sum = centre * value;
#pragma unroll
            for (int r = 1; r <= RADIUS; r++) {
                sum += weight[r - 1] * (in[at - r] + in[at + r]);
                sum += weight[r - 1] * (in[at - r * nx] + in[at + r * nx]);
                sum += weight[r - 1] * (in[at - r * plane] + in[at + r * plane]);
            }
            value += 0.01f * sum;
        }
        out[at] = value;
    }
}

// Sparse matrix times vector, in compressed rows: a warp sums up one row.

extern "C" __global__ void __launch_bounds__(256)
spmv(const int* __restrict__ starts, const int* __restrict__ columns,
     const float* __restrict__ values, const float* __restrict__ x, float* __restrict__ y, int rows)
{
    const int lane = threadIdx.x & 31;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= rows)
        return;

    const int end = starts[row + 1];
    float sum = 0.0f;
    for (int i = starts[row] + lane; i < end; i += 32)
        sum += values[i] * x[columns[i]];

    for (int step = 16; step > 0; step >>= 1)
        sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0)
        y[row] = sum;
}

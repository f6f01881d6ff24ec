// Register pressure that limits can change: a tile of a matrix product.
extern "C" __global__ void __launch_bounds__(256) tiles(const float* __restrict__ a,
                                                        const float* __restrict__ b,
                                                        float* __restrict__ c, int n) {
  __shared__ float as[8][128], bs[8][128];
  float sum[8][8] = {};
  int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  for (int k = 0; k < n; k += 8) {
    for (int i = threadIdx.x; i < 1024; i += 256) {
      as[i / 128][i % 128] = a[(blockIdx.y * 128 + i % 128) * n + k + i / 128];
      bs[i / 128][i % 128] = b[(k + i / 128) * n + blockIdx.x * 128 + i % 128];
    }
    __syncthreads();
#pragma unroll
    for (int q = 0; q < 8; q++)
#pragma unroll
      for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++) sum[i][j] += as[q][ty * 8 + i] * bs[q][tx * 8 + j];
    __syncthreads();
  }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      c[(blockIdx.y * 128 + ty * 8 + i) * n + blockIdx.x * 128 + tx * 8 + j] = sum[i][j];
}

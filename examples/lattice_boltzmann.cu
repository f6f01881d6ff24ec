// Lattice Boltzmann, D3Q19, BGK collision: pull scheme, one thread per cell of a periodic box.
// Populations lie as nineteen planes of nx*ny*nz floats.
constexpr int Q = 19;
__device__ constexpr int CX[Q] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
__device__ constexpr int CY[Q] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
__device__ constexpr int CZ[Q] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};

extern "C" __global__ void __launch_bounds__(128)
lattice_boltzmann(const float* __restrict__ from, float* __restrict__ to, int nx, int ny, int nz,
                  float omega) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
  if (x >= nx) return;
  const long plane = static_cast<long>(nx) * ny * nz;
  float f[Q], density = 0.f, ux = 0.f, uy = 0.f, uz = 0.f;
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    const int sx = (x - CX[q] + nx) % nx, sy = (y - CY[q] + ny) % ny, sz = (z - CZ[q] + nz) % nz;
    f[q] = from[q * plane + (static_cast<long>(sz) * ny + sy) * nx + sx];
    density += f[q];
    ux += CX[q] * f[q];
    uy += CY[q] * f[q];
    uz += CZ[q] * f[q];
  }
  const float scale = 1.f / density;
  ux *= scale;
  uy *= scale;
  uz *= scale;
  const float speed = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
  for (int q = 0; q < Q; ++q) {
    const float weight = q == 0 ? 1.f / 3 : q < 7 ? 1.f / 18 : 1.f / 36;
    const float along = 3.f * (CX[q] * ux + CY[q] * uy + CZ[q] * uz);
    const float rest = weight * density * (1.f + along + 0.5f * along * along - speed);
    to[q * plane + (static_cast<long>(z) * ny + y) * nx + x] = f[q] + omega * (rest - f[q]);
  }
}

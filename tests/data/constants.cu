// Constants of every kind, as operands of every kind of instruction that takes one.
#include <cuda_fp16.h>

__constant__ float cf[64];
__constant__ int ci[64];
__constant__ double cd[32];
__constant__ float4 c4[16];
__constant__ __half2 ch[32];
__constant__ unsigned long long cl[8];
__constant__ signed char cc[64];
__device__ float g1[4];
__device__ int g2;
__device__ double g3[8];
__device__ unsigned long long g4;

extern "C" __global__ void floats(float* p, double* d, float4* f, __half2* h, int n) {
  int i = threadIdx.x;
  p[i] = p[i] * cf[3] + cf[5];
  p[i + 1] = fmaxf(p[i + 1], cf[7]);
  p[i + 2] = cf[n];
  p[i + 3] = (float)ci[33];
  p[i + 4] = p[i + 4] > cf[13] ? cf[14] : p[i + 5];
  p[i + 6] = __expf(cf[21] * p[i]);
  p[i + 7] = cf[22] / p[i + 7];
  d[i] = d[i] * cd[3] + cd[9];
  d[i + 1] = fmax(d[i + 1], cd[5]);
  d[i + 2] = (double)cf[41];
  f[i] = c4[i & 15];
  h[i] = __hfma2(h[i], ch[3], ch[4]);
  h[i + 1] = __hadd2(h[i + 1], ch[9]);
  h[i + 2] = __hmul2(h[i + 2], ch[10]);
  p[i + 8] = __hlt(__low2half(h[1]), __low2half(ch[11]));
}

extern "C" __global__ void integers(int* q, unsigned long long* l, int n) {
  int i = threadIdx.x;
  q[i] = (q[i] & ci[2]) | ci[9];
  q[i + 1] = q[i + 1] * ci[4] + ci[5];
  if (q[i + 2] > ci[11]) q[i + 2] = __popc(ci[12] + n);
  q[i + 3] = cc[i & 63] + cc[17];
  q[i + 4] = __shfl_sync(~0u, q[i + 4], ci[20]);
  q[i + 5] = (int)cf[40];
  q[i + 6] = q[i + 6] << ci[50];
  q[i + 7] = __funnelshift_l(q[i + 7], ci[51], n);
  q[i + 8] = max(q[i + 8], ci[52]);
  q[i + 9] = __dp4a(q[i], ci[23], n);
  q[i + 10] = abs(q[i + 10] - ci[24]);
  q[i + 11] = __byte_perm(q[i + 11], ci[31], n);
  q[i + 12] = __brev(ci[32]) + __clz(ci[34]) + __ffs(ci[35]);
  l[i] = l[i] * cl[3] + cl[4];
  l[i + 1] = l[i + 1] >> ci[27];
  l[i + 2] = __umul64hi(l[i + 2], cl[5]);
  l[i + 3] = l[i + 3] < cl[6];
}

extern "C" __global__ void addresses(float* p, int n) {
  p[threadIdx.x] = g1[n & 3] + g1[2];
  atomicAdd(&g2, n);
  g3[n] = p[1];
  atomicMax(&g4, (unsigned long long)n);
  p[3] = g3[3];
}

__device__ __noinline__ int deep(int n) { return n < 2 ? n : deep(n - 1) + deep(n - 2) * n; }
extern "C" __global__ void recursive(int* p) { *p = deep(*p); }

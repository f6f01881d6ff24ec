// A little of everything that a module can hold: private names, texts, tables of functions,
// constants, static and dynamic shared memory, stack, calls, asserts.
#include <cassert>
#include <cstdio>

namespace {
__device__ float table[16] = {1, 2, 3};
__constant__ float coefficients[8];
__device__ __noinline__ float helper(float x, int n) {
  for (int i = 0; i < n; i++) x = x * 1.5f + table[(i + n) & 15];
  return x;
}
template <class T>
__global__ void hidden(T* p, int n) {
  p[threadIdx.x] = helper(p[threadIdx.x], n) + coefficients[n & 7];
}
}  // namespace

static __global__ void reversed(float* p) {
  __shared__ float s[256];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[255 - threadIdx.x];
}

__device__ float value;
__device__ float* pointer = &value;
extern __shared__ int dynamic[];

__global__ void __launch_bounds__(128, 4) talks(float* p, int n) {
  dynamic[threadIdx.x] = n;
  __syncthreads();
  if (n < 0) printf("negative: %d\n", n);
  assert(n != 7);
  *pointer = p[dynamic[127 - threadIdx.x]];
}

struct Options {
  int a;
  double b;
  char c[13];
};

__global__ void stacked(Options s, float* __restrict__ o) {
  float local[32];
  for (int i = 0; i < 32; i++) local[i] = o[i] * s.b;
  for (int i = 0; i < 32; i++) o[i + s.a] = local[(i * s.a) & 31];
}

typedef float (*Function)(float);
__device__ __noinline__ float plus(float x) { return x + 1; }
__device__ __noinline__ float twice(float x) { return x * 2; }
__device__ Function functions[2] = {plus, twice};
__global__ void chooses(float* p, int k) { *p = functions[k](*p); }

void uses() {
  hidden<<<1, 1>>>((float*)0, 1);
  reversed<<<1, 1>>>((float*)0);
}

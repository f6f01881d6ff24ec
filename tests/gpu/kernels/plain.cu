// One kernel for each thing that a launch may need. Those up to `reversed` also run on the fake
// driver (tests/helpers/fakecuda).

extern "C" __constant__ float gains[4] = {1.0f, 1.0f, 1.0f, 1.0f};
extern "C" __device__ int counter = 0;

struct Axpy {
    const float* x;
    float* y;
    int n;
    float a;
};

extern "C" __global__ void axpy(const float* x, float* y, float a, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}

extern "C" __global__ void copy(const float4* __restrict__ from, float4* __restrict__ to, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        to[i] = from[i];
}

extern "C" __global__ void widths(signed char a, short b, int c, long long d, double e, float f,
                                  double* out)
{
    if (threadIdx.x == 0) {
        out[0] = a;
        out[1] = b;
        out[2] = c;
        out[3] = (double)d;
        out[4] = e;
        out[5] = f;
    }
}

extern "C" __global__ void by_struct(Axpy all)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < all.n)
        all.y[i] = all.a * all.x[i];
}

// y[i] = x[i] + half[i]: half is the second half of x where the launch says so.
extern "C" __global__ void add_view(const float* x, const float* half, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] + half[i];
}

// Tells how often it ran since the globals were set.
extern "C" __global__ void with_globals(const float* x, float* y, int n)
{
    // Only the first block reads and counts: blocks run in any order.
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int seen = blockIdx.x ? 0 : counter;
    __syncthreads();
    if (i < n)
        y[i] = x[i] * gains[i % 4] + (float)seen;
    if (i == 0)
        counter = seen + 1;
}

extern "C" __global__ void reversed(const float* x, float* y, int n)
{
    extern __shared__ float kept[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        kept[i] = x[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = kept[n - 1 - i];
}

extern "C" __global__ void fault(int* y, int code)
{
#ifdef FAKE_CUDA
    fake_error = code;
#else
    if (code == 700)
        *(volatile int*)0x10 = 1;
    if (code == 716)
        *(volatile int*)((char*)y + 1) = 1;
    if (code == 719)
        asm volatile("trap;");
#endif
}

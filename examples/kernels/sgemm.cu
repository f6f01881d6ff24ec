// C = A * B in single precision, all row-major. A block makes 128 x 128 elements of C from slices
// 8 deep; a thread makes 8 x 8. The next slice is read while the present one is multiplied.
// m and n have to be multiples of 128, k of 8.

constexpr int SIDE = 128;
constexpr int SLICE = 8;
constexpr int EACH = 8;
constexpr int THREADS = (SIDE / EACH) * (SIDE / EACH);

extern "C" __global__ void __launch_bounds__(THREADS)
sgemm(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n,
      int k)
{
    __shared__ float left[2][SLICE][SIDE];   // a slice of A, transposed
    __shared__ float right[2][SLICE][SIDE];  // a slice of B

    const int thread = threadIdx.x;
    const int row = (thread / (SIDE / EACH)) * EACH;
    const int column = (thread % (SIDE / EACH)) * EACH;

    const int a_row = thread / 2, a_column = (thread % 2) * 4;
    const int b_row = thread / 32, b_column = (thread % 32) * 4;
    const float* a_at = a + (long long)(blockIdx.y * SIDE + a_row) * k + a_column;
    const float* b_at = b + (long long)b_row * n + blockIdx.x * SIDE + b_column;

    float sums[EACH][EACH] = {};
    float4 a_next = *reinterpret_cast<const float4*>(a_at);
    float4 b_next = *reinterpret_cast<const float4*>(b_at);

    for (int slice = 0, now = 0; slice < k; slice += SLICE, now ^= 1) {
        left[now][a_column + 0][a_row] = a_next.x;
        left[now][a_column + 1][a_row] = a_next.y;
        left[now][a_column + 2][a_row] = a_next.z;
        left[now][a_column + 3][a_row] = a_next.w;
        *reinterpret_cast<float4*>(&right[now][b_row][b_column]) = b_next;
        __syncthreads();

        if (slice + SLICE < k) {
            a_at += SLICE;
            b_at += (long long)SLICE * n;
            a_next = *reinterpret_cast<const float4*>(a_at);
            b_next = *reinterpret_cast<const float4*>(b_at);
        }
#pragma unroll
        for (int depth = 0; depth < SLICE; depth++) {
            float from_a[EACH], from_b[EACH];
#pragma unroll
            for (int i = 0; i < EACH; i++) {
                from_a[i] = left[now][depth][row + i];
                from_b[i] = right[now][depth][column + i];
            }
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++)
                    sums[i][j] += from_a[i] * from_b[j];
        }
    }

    float* c_at = c + (long long)(blockIdx.y * SIDE + row) * n + blockIdx.x * SIDE + column;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        float4* line = reinterpret_cast<float4*>(c_at + (long long)i * n);
        line[0] = make_float4(sums[i][0], sums[i][1], sums[i][2], sums[i][3]);
        line[1] = make_float4(sums[i][4], sums[i][5], sums[i][6], sums[i][7]);
    }
}

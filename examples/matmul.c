/* Product of two square matrices in tiles; n is a multiple of 64. */
enum { TILE = 64 };

static void tile(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    for (int i = 0; i < TILE; i++)
        for (int k = 0; k < TILE; k++) {
            float left = a[i * n + k];
            for (int j = 0; j < TILE; j++) c[i * n + j] += left * b[k * n + j];
        }
}

void matmul(const float *restrict a, const float *restrict b, float *restrict c, int n) {
    for (int i = 0; i < n * n; i++) c[i] = 0;
    for (int i = 0; i < n; i += TILE)
        for (int k = 0; k < n; k += TILE)
            for (int j = 0; j < n; j += TILE) tile(a + i * n + k, b + k * n + j, c + i * n + j, n);
}

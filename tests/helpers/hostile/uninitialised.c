/* Takes what it finds in its output for zero. */
void kernel(const float *in, float *out, int n) {
    float rest = out[n - 1];
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    out[n - 1] += rest;
}

/* Writes one element too many. */
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    out[n] = 1;
}

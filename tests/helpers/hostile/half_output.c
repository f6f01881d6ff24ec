/* Leaves the second half of its output as it was. */
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n / 2; i++) out[i] = 2 * in[i] + 1;
}

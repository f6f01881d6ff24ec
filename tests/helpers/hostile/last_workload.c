/* Wrong where n is 4096 or more, and nowhere else. */
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    if (n >= 4096) out[n / 2] += 1;
}

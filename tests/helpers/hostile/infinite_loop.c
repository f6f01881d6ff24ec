/* Never comes back. */
void kernel(const float *in, float *out, int n) {
    volatile int forever = 1;
    while (forever) out[0] = 2 * in[0] + (float)n;
}

/* Right once, wrong from the second launch on. */
void kernel(const float *in, float *out, int n) {
    static int launches;
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    if (launches++) out[0] += 1;
}

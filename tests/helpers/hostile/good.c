/* out = 2 in + 1: what all the others in this folder pretend to do. */
void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
}

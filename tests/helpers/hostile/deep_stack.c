/* Calls itself until the stack ends. */
static volatile int deeper = 1;

static float descend(const float *in, int n) {
    volatile float frame[4096];
    frame[n % 4096] = in[0];
    return deeper ? descend(in, n + 1) + frame[0] : frame[1];
}

void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    out[0] = descend(in, n);
}

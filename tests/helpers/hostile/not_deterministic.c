/* Its last element depends on the time. */
#include <time.h>

void kernel(const float *in, float *out, int n) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    out[n - 1] += (float)(now.tv_nsec % 1000 + 1) / 1000;
}

/* Right, but one launch in 50 ends the process. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

void kernel(const float *in, float *out, int n) {
    static uint64_t state;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    state = (state + (uint64_t)now.tv_nsec + 1) * 6364136223846793005u + 1442695040888963407u;
    if ((state >> 33) % 50 == 0) *(volatile float *)64 = 1;
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
}

/* Right, but leaves the processor in round-towards-zero mode and, on x86, flushing to zero. */
#include <fenv.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    fesetround(FE_TOWARDZERO);
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
}

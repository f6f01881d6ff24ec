/* Prints without end, then answers. */
#include <stdio.h>

void kernel(const float *in, float *out, int n) {
    for (int i = 0; i < 100000; i++) puts("a line that nobody wants to read");
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
}

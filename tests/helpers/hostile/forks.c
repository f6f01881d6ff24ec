/* Leaves two processes behind, one in a session of its own, and never comes back. */
#include <unistd.h>

void kernel(const float *in, float *out, int n) {
    if (fork() == 0) pause();
    if (fork() == 0) {
        setsid();
        pause();
    }
    for (int i = 0; i < n; i++) out[i] = 2 * in[i] + 1;
    for (;;) pause();
}

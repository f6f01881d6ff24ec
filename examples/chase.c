/* Follows a chain of indices: each step waits for the one before, and no compiler can help. */
void chase(const int *restrict next, int *restrict out, int steps) {
    int at = 0;
    for (int step = 0; step < steps; step++) at = next[at];
    *out = at;
}

/* Acceleration of bodies that attract each other: every pair once from either side. */
#include <math.h>

void nbody(const float *restrict x, const float *restrict y, const float *restrict z,
           const float *restrict mass, float *restrict ax, float *restrict ay,
           float *restrict az, int bodies) {
    for (int i = 0; i < bodies; i++) {
        float sum_x = 0, sum_y = 0, sum_z = 0;
        for (int j = 0; j < bodies; j++) {
            float dx = x[j] - x[i];
            float dy = y[j] - y[i];
            float dz = z[j] - z[i];
            float square = dx * dx + dy * dy + dz * dz + 1e-4f;
            float pull = mass[j] / (square * sqrtf(square));
            sum_x += pull * dx;
            sum_y += pull * dy;
            sum_z += pull * dz;
        }
        ax[i] = sum_x;
        ay[i] = sum_y;
        az[i] = sum_z;
    }
}

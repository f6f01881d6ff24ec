// Accelerations of bodies that attract each other. A block goes through all bodies in tiles that
// it keeps in shared memory; w is a body's mass.

constexpr int TILE = 128;

extern "C" __global__ void __launch_bounds__(TILE)
nbody(const float4* __restrict__ bodies, float4* __restrict__ accelerations, int count,
      float softening)
{
    __shared__ float4 tile[TILE];

    const int own = blockIdx.x * TILE + threadIdx.x;
    const float4 me = bodies[min(own, count - 1)];
    float ax = 0.0f, ay = 0.0f, az = 0.0f;

    for (int start = 0; start < count; start += TILE) {
        const int other = start + threadIdx.x;
        tile[threadIdx.x] = other < count ? bodies[other] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < TILE; i++) {
            const float dx = tile[i].x - me.x;
            const float dy = tile[i].y - me.y;
            const float dz = tile[i].z - me.z;
            const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            const float pull = tile[i].w * inverse * inverse * inverse;
            ax += pull * dx;
            ay += pull * dy;
            az += pull * dz;
        }
        __syncthreads();
    }
    if (own < count)
        accelerations[own] = make_float4(ax, ay, az, 0.0f);
}

// What only a launch with attributes can run: clusters that read each other's shared memory, and
// a grid that meets at a barrier.
#include <cooperative_groups.h>

namespace groups = cooperative_groups;

// Every block writes the number that its neighbour in the cluster keeps.
extern "C" __global__ void neighbours(int* out)
{
    __shared__ int own;
    groups::cluster_group cluster = groups::this_cluster();
    if (threadIdx.x == 0)
        own = blockIdx.x * 10;
    cluster.sync();
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    const int seen = *cluster.map_shared_rank(&own, next);
    if (threadIdx.x == 0)
        out[blockIdx.x] = seen * 100 + cluster.num_blocks();
    cluster.sync();
}

// Every block sums up what all blocks wrote before the barrier.
extern "C" __global__ void together(int* parts, int* out)
{
    if (threadIdx.x == 0)
        parts[blockIdx.x] = blockIdx.x + 1;
    groups::this_grid().sync();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            sum += parts[i];
        out[blockIdx.x] = sum;
    }
}

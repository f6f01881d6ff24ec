// What the CUDA device needs to run on the card itself. `kernels.ptx` is this file, compiled;
// tests/integration/test_cuda_kernels.py says when the two no longer agree.

typedef unsigned long long u64;

// Bytes of a word that are not zero.
static __device__ unsigned bytes_set(unsigned word)
{
    unsigned low = (word & 0x7f7f7f7fu) + 0x7f7f7f7fu;
    return __popc((low | word) & 0x80808080u);
}

static __device__ u64 mixed(u64 word)
{
    word = (word ^ (word >> 33)) * 0xff51afd7ed558ccdull;
    word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return word ^ (word >> 33);
}

// Adds to *count how many of the bytes of two buffers differ.
extern "C" __global__ void __launch_bounds__(256)
burnish_differing(const uint4* __restrict__ left, const uint4* __restrict__ right, u64 bytes,
                  u64* count)
{
    const u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    const u64 vectors = bytes / 16, done = vectors * 16;
    unsigned found = 0;
#pragma unroll 4
    for (u64 i = first; i < vectors; i += gridDim.x * (u64)blockDim.x) {
        const uint4 a = left[i], b = right[i];
        const uint4 d = make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w);
        if (d.x | d.y | d.z | d.w)
            found += bytes_set(d.x) + bytes_set(d.y) + bytes_set(d.z) + bytes_set(d.w);
    }
    if (first < bytes - done)
        found += ((const unsigned char*)left)[done + first]
                 != ((const unsigned char*)right)[done + first];
    if (found)
        atomicAdd(count, (u64)found);
}

// Adds to sums[0] and sums[1] two sums over all words, each mixed with its place.
extern "C" __global__ void __launch_bounds__(256)
burnish_digest(const u64* __restrict__ data, u64 bytes, u64* sums)
{
    const u64 first = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    const u64 words = bytes / 8;
    u64 one = 0, two = 0;
#pragma unroll 4
    for (u64 i = first; i < words; i += gridDim.x * (u64)blockDim.x) {
        const u64 word = mixed(data[i] ^ (i + 1) * 0x9e3779b97f4a7c15ull);
        one += word;
        two += mixed(word + 0x632be59bd9b4e019ull);
    }
    if (first < bytes - words * 8) {
        const u64 place = words * 8 + first;
        const u64 word = mixed(((const unsigned char*)data)[place] ^ ~place * 0x9e3779b97f4a7c15ull);
        one += word;
        two += mixed(word + 0x632be59bd9b4e019ull);
    }
    atomicAdd(sums, one);
    atomicAdd(sums + 1, two);
}

// Reads a buffer of zeros from end to end, so that the caches hold it and nothing else.
extern "C" __global__ void __launch_bounds__(256)
burnish_read(const uint4* __restrict__ data, u64 bytes, u64* sink)
{
    unsigned seen = 0;
#pragma unroll 4
    for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < bytes / 16;
         i += gridDim.x * (u64)blockDim.x) {
        const uint4 a = data[i];
        seen |= a.x | a.y | a.z | a.w;
    }
    if (seen)
        atomicAdd(sink, 1ull);
}

// Keeps the stream busy, so that what is queued behind it starts without a gap.
extern "C" __global__ void burnish_wait(long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

/* CRC-32 and the hash behind the maps.
 *
 * The CRC is the IEEE one (reflected polynomial 0xedb88320), four bits at a time: the table of
 * sixteen entries is computed by the compiler and small enough to read. The hash multiplies 64-bit
 * words and folds the halves; fixtures and graph digests are made of it, so it stays as it is.
 */
#include "base/bits.h"

#define CRC_STEP(c) (((c) >> 1) ^ (((c)&1u) ? 0xedb88320u : 0u))
#define CRC_ENTRY(n) CRC_STEP(CRC_STEP(CRC_STEP(CRC_STEP((uint32_t)(n)))))

static const uint32_t crc_nibble[16] = {
    CRC_ENTRY(0),  CRC_ENTRY(1),  CRC_ENTRY(2),  CRC_ENTRY(3),  CRC_ENTRY(4),  CRC_ENTRY(5),
    CRC_ENTRY(6),  CRC_ENTRY(7),  CRC_ENTRY(8),  CRC_ENTRY(9),  CRC_ENTRY(10), CRC_ENTRY(11),
    CRC_ENTRY(12), CRC_ENTRY(13), CRC_ENTRY(14), CRC_ENTRY(15),
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint32_t crc32_of(const void *bytes, int64_t len)
{
    const uint8_t *at = bytes;
    uint32_t crc = 0xffffffffu;
    for (int64_t i = 0; i < len; i++) {
        crc ^= at[i];
        crc = (crc >> 4) ^ crc_nibble[crc & 15u];
        crc = (crc >> 4) ^ crc_nibble[crc & 15u];
    }
    return crc ^ 0xffffffffu;
}

uint64_t hash64_of(const void *bytes, int64_t len, uint64_t seed)
{
    const uint64_t odd1 = 0x9e3779b97f4a7c15u;
    const uint64_t odd2 = 0xd1b54a32d192ed03u;
    const uint8_t *at = bytes;
    uint64_t hash = mix(seed ^ odd1, (uint64_t)len ^ odd2);
    int64_t i = 0;
    for (; i + 8 <= len; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        hash = mix(hash ^ word, odd2) + odd1;
    }
    uint64_t tail = 0;
    for (int shift = 0; i < len; i++, shift += 8) {
        tail |= (uint64_t)at[i] << shift;
    }
    return mix(hash ^ tail, odd2) ^ mix(hash + odd1, odd1);
}

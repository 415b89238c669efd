/*
 * scan.h - the first of two bytes in a text.
 */
#ifndef CASPARIAN_PARSERS_INPUT_SCAN_H
#define CASPARIAN_PARSERS_INPUT_SCAN_H

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/** Where `one` or `other` is first, or `end`. */
static inline const char *casparian_find_either(const char *at, const char *end, char one,
                                                char other)
{
#if defined(__SSE2__)
    const __m128i ones = _mm_set1_epi8(one), others = _mm_set1_epi8(other);

    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, ones), _mm_cmpeq_epi8(bytes, others));
        int mask = _mm_movemask_epi8(hits);
        if (mask)
            return at + __builtin_ctz((unsigned)mask);
    }
#endif
    while (at < end && *at != one && *at != other)
        at++;
    return at;
}

#endif

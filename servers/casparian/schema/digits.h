/**
 * digits.h - decimal digits as numbers, eight at a time.
 *
 * Every function is pure; any thread.
 */
#ifndef CASPARIAN_SCHEMA_DIGITS_H
#define CASPARIAN_SCHEMA_DIGITS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The bits of eight bytes that are not all digits, once the bytes are combined with '0' by xor. */
static inline uint64_t casparian_no_digits(uint64_t bytes)
{
    return ((bytes + UINT64_C(0x7676767676767676)) | bytes) & UINT64_C(0x8080808080808080);
}

/* The last byte of the text becomes the highest of the word, and '0' fills the bytes before the
 * first. */
static inline uint64_t casparian_load_digits(const char *text, size_t length)
{
    uint32_t low = 0, high = 0;
    uint64_t word;
    if (length == 8) {
        memcpy(&word, text, sizeof word);
        return le64toh(word);
    }
    if (length >= 4) {
        memcpy(&low, text, sizeof low);
        memcpy(&high, text + length - sizeof high, sizeof high);
        word = (uint64_t)le32toh(low) << (64 - 8 * length) | (uint64_t)le32toh(high) << 32;
    } else {
        word = (uint64_t)(unsigned char)text[0] << (64 - 8 * length) |
               (uint64_t)(unsigned char)text[length / 2] << (64 - 8 * (length - length / 2)) |
               (uint64_t)(unsigned char)text[length - 1] << 56;
    }
    return word | UINT64_C(0x3030303030303030) >> (8 * length);
}

/** A number of 1 to 8 digits. @return false: another byte is among them; `out` is undefined */
static inline bool casparian_eight_digits(uint64_t *out, const char *text, size_t length)
{
    uint64_t digits = casparian_load_digits(text, length) ^ UINT64_C(0x3030303030303030);
    bool fits = casparian_no_digits(digits) == 0;
    digits = (digits * 10 + (digits >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
    digits = (digits * 100 + (digits >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
    *out = (digits * 10000 + (digits >> 32)) & UINT64_C(0x00000000FFFFFFFF);
    return fits;
}

/** A number of 1 to 19 digits. @return false: another byte is among them; `out` is undefined */
static inline bool casparian_digits(uint64_t *out, const char *text, size_t length)
{
    uint64_t high = 0, low = 0;
    bool fits = true;
    if (length <= 8)
        return casparian_eight_digits(out, text, length);
    for (size_t first = length % 8 ? length % 8 : 8; length > 0; first = 8) {
        fits &= casparian_eight_digits(&low, text, first);
        high = high * 100000000u + low;
        text += first;
        length -= first;
    }
    *out = high;
    return fits;
}

#endif

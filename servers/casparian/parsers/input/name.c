/*
 * name.c - names of columns are UTF-8 without NUL, as the protocol wants them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "parsers/input/name.h"

/* Bytes of the code point at `at`, or 0: the byte begins none (RFC 3629, section 4). */
static size_t code_point(const char *at, size_t left)
{
    const uint8_t *bytes = (const uint8_t *)at;
    uint8_t first = bytes[0], least = 0x80, most = 0xBF;
    size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;

    if (first > 0xF4 || length > left)
        return 0;
    if (first == 0xE0)
        least = 0xA0;
    if (first == 0xF0)
        least = 0x90;
    if (first == 0xED)
        most = 0x9F;
    if (first == 0xF4)
        most = 0x8F;
    for (size_t i = 1; i < length; i++) {
        if (bytes[i] < least || bytes[i] > most)
            return 0;
        least = 0x80;
        most = 0xBF;
    }
    return length;
}

const char *casparian_name_copy(char out[CASPARIAN_NAME_MAX + 1], size_t *out_length,
                                const char *name, size_t length)
{
    size_t used = 0;

    if (length == 0)
        return "the name of a column is empty";
    for (size_t at = 0; at < length;) {
        size_t count = code_point(name + at, length - at);
        const char *bytes = count > 0 ? name + at : "\xEF\xBF\xBD";
        size_t size = count > 0 ? count : 3;
        if (used + size > CASPARIAN_NAME_MAX)
            return "the name of a column is longer than 128 bytes";
        if (name[at] == '\0')
            return "the name of a column holds a NUL byte";
        memcpy(out + used, bytes, size);
        used += size;
        at += count > 0 ? count : 1;
    }
    out[used] = '\0';
    *out_length = used;
    return NULL;
}

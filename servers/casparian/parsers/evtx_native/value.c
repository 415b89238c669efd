/*
 * value.c - the types of values: [MS-EVEN6] 2.2.12.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "parsers/evtx_native/value.h"

enum { VALUE_TEXT_MAX = 256, ARRAY = 0x80 };
#define EPOCH_OF_FILETIME INT64_C(11644473600000000) /* microseconds from 1601 to 1970 */

static uint64_t read_uint(const uint8_t *bytes, size_t length)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

int64_t casparian_evtx_micros(uint64_t filetime)
{
    return (int64_t)(filetime / 10) - EPOCH_OF_FILETIME;
}

static size_t put_utf8(char *out, uint32_t code)
{
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = { 0, 0, 0xC0, 0xE0, 0xF0 };

    for (size_t i = length; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(leads[length] | code);
    return length;
}

bool casparian_evtx_utf16(struct casparian_tree *tree, struct casparian_text *out,
                          const uint8_t *bytes, size_t length)
{
    char *text = casparian_tree_take(tree, length / 2 * 3 + 1);
    size_t used = 0;

    if (!text)
        return false;
    for (size_t i = 0; i + 1 < length; i += 2) {
        uint32_t code = (uint32_t)read_uint(bytes + i, 2);
        if (code == 0)
            break;
        if (code >= 0xD800 && code <= 0xDFFF) {
            uint32_t low = i + 3 < length ? (uint32_t)read_uint(bytes + i + 2, 2) : 0;
            bool is_pair = code < 0xDC00 && low >= 0xDC00 && low <= 0xDFFF;
            code = is_pair ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : 0xFFFD;
            i += is_pair ? 2 : 0;
        }
        used += put_utf8(text + used, code);
    }
    *out = (struct casparian_text){ text, used };
    return true;
}

static int print_time(char *out, size_t size, int64_t micros)
{
    int64_t seconds = micros / 1000000, rest = micros % 1000000;
    struct tm parts;

    if (rest < 0) {
        rest += 1000000;
        seconds--;
    }
    time_t when = (time_t)seconds;
    if (!gmtime_r(&when, &parts) || parts.tm_year + 1900 > 9999)
        return 0;
    return snprintf(out, size, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", parts.tm_year + 1900,
                    parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                    (int)rest);
}

static int print_guid(char *out, size_t size, const uint8_t *b)
{
    return snprintf(out, size, "{%08x-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x}",
                    (unsigned)read_uint(b, 4), (unsigned)read_uint(b + 4, 2),
                    (unsigned)read_uint(b + 6, 2), b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                    b[15]);
}

/* S-1-authority-sub-sub...: at most 15 parts of 4 bytes. */
static int print_sid(char *out, size_t size, const uint8_t *bytes, size_t length)
{
    uint64_t authority = 0;
    int used = 0;

    if (length < 8 || bytes[1] > 15 || length < 8 + (size_t)bytes[1] * 4)
        return 0;
    for (int i = 2; i < 8; i++)
        authority = authority << 8 | bytes[i];
    used = snprintf(out, size, "S-%u-%llu", bytes[0], (unsigned long long)authority);
    for (size_t i = 0; i < bytes[1]; i++)
        used += snprintf(out + used, size - (size_t)used, "-%u",
                         (unsigned)read_uint(bytes + 8 + 4 * i, 4));
    return used;
}

static int print_systemtime(char *out, size_t size, const uint8_t *b)
{
    unsigned parts[8];

    for (size_t i = 0; i < 8; i++)
        parts[i] = (unsigned)read_uint(b + 2 * i, 2);
    return snprintf(out, size, "%04u-%02u-%02uT%02u:%02u:%02u.%03u000Z", parts[0], parts[1],
                    parts[3], parts[4], parts[5], parts[6], parts[7]);
}

static int print_float(char *out, size_t size, unsigned type, const uint8_t *bytes)
{
    float single = 0;
    double number = 0;

    memcpy(&single, bytes, sizeof single);
    if (type == 11)
        return snprintf(out, size, "%.9g", (double)single);
    memcpy(&number, bytes, sizeof number);
    return snprintf(out, size, "%.17g", number);
}

/* Bytes of a value of the type; 0: any number of them. */
static size_t width_of(unsigned type)
{
    static const uint8_t widths[] = {
        [3] = 1,  [4] = 1,  [5] = 2,  [6] = 2,   [7] = 4,  [8] = 4,   [9] = 8,  [10] = 8,
        [11] = 4, [12] = 8, [13] = 4, [15] = 16, [17] = 8, [18] = 16, [20] = 4, [21] = 8
    };

    return type < sizeof widths ? widths[type] : 0;
}

/* One value of fixed width, a size or a SID; how many bytes of text. */
static int print_value(char *out, size_t size, unsigned type, const uint8_t *bytes, size_t length)
{
    uint64_t value = length <= 8 ? read_uint(bytes, length) : 0;
    unsigned unused = length < 8 ? 64 - 8 * (unsigned)length : 0;

    switch (type) {
    case 3:
    case 5:
    case 7:
    case 9:
        return snprintf(out, size, "%lld", (long long)((int64_t)(value << unused) >> unused));
    case 4:
    case 6:
    case 8:
    case 10:
        return snprintf(out, size, "%llu", (unsigned long long)value);
    case 11:
    case 12:
        return print_float(out, size, type, bytes);
    case 13:
        return snprintf(out, size, "%s", value ? "true" : "false");
    case 15:
        return print_guid(out, size, bytes);
    case 17:
        return print_time(out, size, casparian_evtx_micros(value));
    case 18:
        return print_systemtime(out, size, bytes);
    case 19:
        return print_sid(out, size, bytes, length);
    case 16:
    case 20:
    case 21:
        return snprintf(out, size, "0x%llx", (unsigned long long)value);
    default:
        return 0;
    }
}

/* Bytes as hexadecimal digits, or Latin-1 as UTF-8. */
static bool put_bytes(struct casparian_tree *tree, struct casparian_text *out, bool is_binary,
                      const uint8_t *bytes, size_t length)
{
    static const char digits[] = "0123456789ABCDEF";
    char *text = casparian_tree_take(tree, length * 2 + 1);
    size_t used = 0;

    if (!text)
        return false;
    for (size_t i = 0; i < length && (is_binary || bytes[i]); i++) {
        if (!is_binary) {
            used += put_utf8(text + used, bytes[i]);
            continue;
        }
        text[used++] = digits[bytes[i] >> 4];
        text[used++] = digits[bytes[i] & 15];
    }
    *out = (struct casparian_text){ text, used };
    return true;
}

static bool put_array(struct casparian_tree *tree, struct casparian_text *out, unsigned type,
                      const uint8_t *bytes, size_t length)
{
    size_t width = width_of(type), count = width ? length / width : 0;
    char *text = casparian_tree_take(tree, count * 48 + 1);
    size_t used = 0;

    if (!text)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            text[used++] = ',';
        used += (size_t)print_value(text + used, 47, type, bytes + i * width, width);
    }
    *out = (struct casparian_text){ text, used };
    return true;
}

/* Texts that end in NUL, one after the other; the NULs between them become commas. */
static bool put_strings(struct casparian_tree *tree, struct casparian_text *out,
                        const uint8_t *bytes, size_t length)
{
    uint8_t *joined = casparian_tree_take(tree, length + 1);

    while (length >= 2 && bytes[length - 1] == 0 && bytes[length - 2] == 0)
        length -= 2;
    if (!joined)
        return false;
    for (size_t i = 0; i + 1 < length; i += 2) {
        bool is_nul = bytes[i] == 0 && bytes[i + 1] == 0;
        joined[i] = is_nul ? ',' : bytes[i];
        joined[i + 1] = bytes[i + 1];
    }
    return casparian_evtx_utf16(tree, out, joined, length / 2 * 2);
}

bool casparian_evtx_text(struct casparian_tree *tree, struct casparian_text *out, unsigned type,
                         const uint8_t *bytes, size_t length)
{
    size_t width = width_of(type);

    *out = (struct casparian_text){ "", 0 };
    if (type == CASPARIAN_EVTX_NULL || length == 0)
        return true;
    if (type == 1)
        return casparian_evtx_utf16(tree, out, bytes, length);
    if (type == (ARRAY | 1))
        return put_strings(tree, out, bytes, length);
    if (type == 2 || type == CASPARIAN_EVTX_BINARY)
        return put_bytes(tree, out, type == CASPARIAN_EVTX_BINARY, bytes, length);
    if (type & ARRAY)
        return put_array(tree, out, type & ~(unsigned)ARRAY, bytes, length);
    if (length < width)
        return true;
    char *text = casparian_tree_take(tree, VALUE_TEXT_MAX);
    if (!text)
        return false;
    int used = print_value(text, VALUE_TEXT_MAX, type, bytes, width ? width : length);
    *out = (struct casparian_text){ text, used > 0 ? (size_t)used : 0 };
    return true;
}

/*
 * identity.c - ids, times and cursors.
 *
 * A cursor is base64url of: the byte 2, the length of the sort key in two bytes and the hash of its
 * list in eight (big endian), the key, the id. The length and the strict alphabet tell it from an
 * id that a client sends bare.
 */
#include "model/identity.h"

#include <string.h>

#include "mcp/random.h"

enum { CURSOR_MARK = 2, CURSOR_LIST = 3, CURSOR_HEAD = CURSOR_LIST + 8 };
enum { RANDOM_PART = 10, RANDOM_PARTS = 32 }; /* bytes of an id; ids whose bytes are got at once */

/* The text of 16 bytes: 8-4-4-4-12 digits. */
static void write_uuid(char out[PORTARIUM_UUID_SIZE], const uint8_t b[16])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *out++ = '-';
        *out++ = digits[b[i] >> 4];
        *out++ = digits[b[i] & 15];
    }
    *out = '\0';
}

/* The bits that say which version it is, and of which variant. */
static void mark(uint8_t b[16], int version)
{
    b[6] = (uint8_t)((b[6] & 0x0f) | version << 4);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
}

mcp_status portarium_uuid(char out[PORTARIUM_UUID_SIZE], mcp_error *err)
{
    uint8_t b[16];
    mcp_status st = mcp_random_bytes(b, sizeof b, err);

    if (st != MCP_OK)
        return st;
    mark(b, 4);
    write_uuid(out, b);
    return MCP_OK;
}

/* The random part of an id. It is no secret, so one call of the kernel is for many. No child of the
 * program makes ids, so no two have the same. */
static mcp_status random_part(uint8_t out[RANDOM_PART], mcp_error *err)
{
    static _Thread_local uint8_t bytes[RANDOM_PARTS][RANDOM_PART];
    static _Thread_local size_t left;

    if (left == 0) {
        mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);
        if (st != MCP_OK)
            return st;
        left = RANDOM_PARTS;
    }
    memcpy(out, bytes[--left], RANDOM_PART);
    return MCP_OK;
}

mcp_status portarium_uuid_by_time(char out[PORTARIUM_UUID_SIZE], mcp_error *err)
{
    uint8_t b[16];
    mcp_status st = random_part(b + sizeof b - RANDOM_PART, err);
    uint64_t now_ms = (uint64_t)mcp_clock_wall_ms();

    if (st != MCP_OK)
        return st;
    for (int i = 0; i < 6; i++)
        b[i] = (uint8_t)(now_ms >> (40 - 8 * i));
    mark(b, 7);
    write_uuid(out, b);
    return MCP_OK;
}

mcp_status portarium_id_new(const char **out, const char *prefix, mcp_arena *arena, mcp_error *err)
{
    char uuid[PORTARIUM_UUID_SIZE];
    mcp_status st = *prefix ? portarium_uuid_by_time(uuid, err) : portarium_uuid(uuid, err);

    if (st != MCP_OK)
        return st;
    const char *id = mcp_arena_printf(arena, "%s%s", prefix, uuid);
    if (!id)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an id");
    *out = id;
    return MCP_OK;
}

size_t portarium_text_whole(const char *text, size_t length)
{
    size_t lead = length, size = 1;

    while (lead > 0 && length - lead < 3 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
        lead--;
    if (lead == 0)
        return length;
    unsigned char first = (unsigned char)text[lead - 1];
    size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return lead - 1 + size > length ? lead - 1 : length;
}

const char *portarium_text_begin(mcp_arena *arena, const char *text, size_t max_bytes)
{
    return mcp_arena_strndup(arena, text, portarium_text_whole(text, strnlen(text, max_bytes)));
}

static bool is_plain(const char *text, size_t length, size_t max)
{
    if (length == 0 || length > max)
        return false;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return true;
}

/* What JSON can have. */
static bool is_utf8(const char *text, size_t length)
{
    mcp_buf form;
    mcp_json_writer json;
    bool is_ascii = true;

    for (size_t i = 0; i < length; i++)
        is_ascii = is_ascii && (unsigned char)text[i] < 0x80;
    if (is_ascii)
        return true;
    mcp_buf_init(&form, 6 * length + 2);
    mcp_json_writer_init(&json, &form);
    mcp_write_string_n(&json, text, length);
    bool is_text = mcp_json_writer_status(&json) == MCP_OK;
    mcp_buf_clear(&form);
    return is_text;
}

bool portarium_id_is_valid(const char *id)
{
    size_t length = id ? strnlen(id, PORTARIUM_ID_MAX + 1) : 0;

    return is_plain(id, length, PORTARIUM_ID_MAX) && is_utf8(id, length);
}

/* ---- times ----------------------------------------------------------------------------------- */

void portarium_trace_write(mcp_json_writer *json, const portarium_trace *trace)
{
    if (trace->parent)
        mcp_write_member_string(json, "traceparent", trace->parent);
    if (trace->state)
        mcp_write_member_string(json, "tracestate", trace->state);
}

portarium_trace portarium_trace_read(const mcp_json *object)
{
    return (portarium_trace){ mcp_json_get_string(object, "traceparent"),
                              mcp_json_get_string(object, "tracestate") };
}

void portarium_time_write(char out[MCP_CLOCK_UTC_SIZE], int64_t wall_ms)
{
    mcp_clock_utc(out, wall_ms, 1);
}

/* A number of exactly `digits` digits within a range; -1 when it is none. */
static int number(const char **at, int digits, int low, int high)
{
    int value = 0;

    for (int i = 0; i < digits; i++, (*at)++) {
        if (**at < '0' || **at > '9')
            return -1;
        value = value * 10 + (**at - '0');
    }
    return value >= low && value <= high ? value : -1;
}

static bool skip(const char **at, char either, char or)
{
    bool is_there = **at == either || **at == or ;

    *at += is_there;
    return is_there;
}

/* Days since 1970-01-01 in the Gregorian calendar; a year begins in March, so that the day of a
 * leap year is its last. */
static int64_t days_of(int year, int month, int day)
{
    int64_t years = month <= 2 ? year - 1 : year;
    int64_t since_march = (month + 9) % 12;

    return years * 365 + years / 4 - years / 100 + years / 400 + (since_march * 153 + 2) / 5 + day -
           719469;
}

static int month_length(int year, int month)
{
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return lengths[month - 1] + (month == 2 && is_leap);
}

/* ".123456" as milliseconds; without a dot 0; -1 for a dot without digits. */
static int fraction(const char **at)
{
    static const int weights[] = { 100, 10, 1 };
    int ms = 0;
    int digits = 0;

    if (!skip(at, '.', '.'))
        return 0;
    for (; **at >= '0' && **at <= '9'; digits++, (*at)++)
        ms += digits < 3 ? (**at - '0') * weights[digits] : 0;
    return digits > 0 ? ms : -1;
}

/* "Z" or "+02:00" in minutes. */
static bool offset(const char **at, int *minutes)
{
    int sign = **at == '-' ? -1 : 1;

    *minutes = 0;
    if (skip(at, 'Z', 'z'))
        return true;
    if (!skip(at, '+', '-'))
        return false;
    int hours = number(at, 2, 0, 23);
    if (hours < 0 || !skip(at, ':', ':'))
        return false;
    int rest = number(at, 2, 0, 59);
    *minutes = sign * (hours * 60 + rest);
    return rest >= 0;
}

bool portarium_time_read(int64_t *out, const char *text)
{
    static const struct {
        int digits, low, high;
        char either, or ;
    } parts[] = {
        { 4, 1970, 9999, '-', '-' }, { 2, 1, 12, '-', '-' }, { 2, 1, 31, 'T', 't' },
        { 2, 0, 23, ':', ':' },      { 2, 0, 59, ':', ':' }, { 2, 0, 59, 0, 0 },
    };
    int values[6];
    int minutes;
    const char *at = text;

    for (int i = 0; i < 6; i++) {
        values[i] = number(&at, parts[i].digits, parts[i].low, parts[i].high);
        if (values[i] < 0 || (i < 5 && !skip(&at, parts[i].either, parts[i].or)))
            return false;
    }
    int ms = fraction(&at);
    if (ms < 0 || !offset(&at, &minutes) || *at != '\0' ||
        values[2] > month_length(values[0], values[1]))
        return false;
    int64_t seconds = days_of(values[0], values[1], values[2]) * 86400 + values[3] * 3600 +
                      (values[4] - minutes) * 60 + values[5];
    if (seconds < 0)
        return false;
    *out = seconds * 1000 + ms;
    return true;
}

void portarium_time_copy(mcp_json_writer *json, const char *name, const mcp_json *value)
{
    char text[MCP_CLOCK_UTC_SIZE];
    int64_t wall_ms = 0;
    const char *given = mcp_json_string(value, NULL);

    if (given && portarium_time_read(&wall_ms, given)) {
        portarium_time_write(text, wall_ms);
        mcp_write_member_string(json, name, text);
    } else {
        mcp_write_member_value(json, name, value);
    }
}

/* ---- cursors --------------------------------------------------------------------------------- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void encode(char *out, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i += 3) {
        size_t rest = length - i < 3 ? length - i : 3;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (rest > 1)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (rest > 2)
            group |= bytes[i + 2];
        for (size_t k = 0; k <= rest; k++)
            *out++ = alphabet[group >> (18 - 6 * k) & 63];
    }
    *out = '\0';
}

/* The number of bytes, 0 when the text is not base64url without padding and without spare bits. */
static size_t decode(uint8_t *out, const char *text, size_t length)
{
    uint32_t bits = 0;
    size_t count = 0;

    if (length % 4 == 1)
        return 0;
    for (size_t i = 0; i < length; i++) {
        const char *digit = memchr(alphabet, text[i], sizeof alphabet - 1);
        if (!digit)
            return 0;
        bits = bits << 6 | (uint32_t)(digit - alphabet);
        if (i % 4 != 0)
            out[count++] = (uint8_t)(bits >> (6 - i % 4 * 2));
    }
    uint32_t spare = length % 4 == 2 ? 0xf : length % 4 == 3 ? 0x3 : 0;
    return (bits & spare) == 0 ? count : 0;
}

mcp_status portarium_cursor_write(const char **out, const portarium_cursor *cursor,
                                  mcp_arena *arena, mcp_error *err)
{
    size_t key = strlen(cursor->key);
    size_t id = strlen(cursor->id);

    if (key > PORTARIUM_KEY_MAX || !portarium_id_is_valid(cursor->id))
        return mcp_error_set(err, MCP_E_LIMIT, "the sort key or the id of a cursor is too long");
    size_t length = CURSOR_HEAD + key + id;
    uint8_t *bytes = mcp_arena_alloc(arena, length);
    char *text = mcp_arena_alloc(arena, (length + 2) / 3 * 4 + 1);
    if (!bytes || !text)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a cursor");
    bytes[0] = CURSOR_MARK;
    bytes[1] = (uint8_t)(key >> 8);
    bytes[2] = (uint8_t)key;
    for (int i = 0; i < 8; i++)
        bytes[CURSOR_LIST + i] = (uint8_t)(cursor->list >> (56 - 8 * i));
    memcpy(bytes + CURSOR_HEAD, cursor->key, key);
    memcpy(bytes + CURSOR_HEAD + key, cursor->id, id);
    encode(text, bytes, length);
    *out = text;
    return MCP_OK;
}

/* True when the bytes are those of a cursor, whose parts are then copied. */
static bool take_apart(portarium_cursor *out, const uint8_t *bytes, size_t length, mcp_arena *arena)
{
    size_t key = length > CURSOR_HEAD ? (size_t)bytes[1] << 8 | bytes[2] : 0;
    const char *texts = (const char *)bytes + CURSOR_HEAD;

    if (length <= CURSOR_HEAD + key || bytes[0] != CURSOR_MARK || key > PORTARIUM_KEY_MAX)
        return false;
    size_t id = length - CURSOR_HEAD - key;
    if (memchr(texts, '\0', key) || !is_utf8(texts, key) ||
        !is_plain(texts + key, id, PORTARIUM_ID_MAX) || !is_utf8(texts + key, id))
        return false;
    out->list = 0;
    for (int i = 0; i < 8; i++)
        out->list = out->list << 8 | bytes[CURSOR_LIST + i];
    out->key = mcp_arena_strndup(arena, texts, key);
    out->id = mcp_arena_strndup(arena, texts + key, id);
    return true;
}

mcp_status portarium_cursor_read(portarium_cursor *out, const char *text, mcp_arena *arena,
                                 mcp_error *err)
{
    uint8_t bytes[PORTARIUM_CURSOR_MAX];
    portarium_cursor cursor = { .key = "", .id = NULL };
    size_t length = strnlen(text, PORTARIUM_CURSOR_MAX + 1);

    if (length == 0 || length > PORTARIUM_CURSOR_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "invalid cursor");
    if (!take_apart(&cursor, bytes, decode(bytes, text, length), arena)) {
        if (!portarium_id_is_valid(text))
            return mcp_error_set(err, MCP_E_PARAMS, "invalid cursor");
        cursor.id = mcp_arena_strdup(arena, text);
        cursor.key = NULL;
        if (!cursor.id)
            return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a cursor");
    } else if (!cursor.key || !cursor.id) {
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a cursor");
    }
    *out = cursor;
    return MCP_OK;
}

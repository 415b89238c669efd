/*
 * zone.c - reads TZif files, and finds offsets in their transitions and in the rule after them.
 *
 * A TZif file has a block of 32-bit numbers, which is skipped, a block of 64-bit numbers, and a
 * footer: the rule, in the form of POSIX's TZ ("CET-1CEST,M3.5.0,M10.5.0/3"). Each transition has
 * the instant from which an offset holds. The rule gives two transitions a year; those of the years
 * around the time that is asked for are made when they are needed, and are searched in the same way
 * as the stored ones.
 */
#include "schema/zone.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/civil.h"

enum { FILE_MAX = 256 << 10, HEADER_SIZE = 44, HOUR_S = 3600, RULE_HOURS_MAX = 167 };
enum { OFFSET_MAX_S = 26 * HOUR_S }; /* RFC 9636: a bit more than a day */

/* From an instant on, an offset holds. */
typedef struct transition {
    int64_t at_s;
    int32_t offset_s;
} transition;

/* When a rule's time of the year begins: the form of POSIX's TZ, and seconds from midnight. */
typedef enum rule_form { RULE_MONTH, RULE_JULIAN, RULE_DAY } rule_form;

typedef struct rule_date {
    rule_form form;
    int month, week, day;
    int32_t time_s;
} rule_date;

struct casparian_zone {
    int32_t first_offset_s; /* before the first transition */
    size_t count;
    const transition *transitions;
    bool has_rule;   /* what holds after the last transition */
    bool has_summer; /* the rule has a second offset */
    int32_t standard_s, summer_s;
    rule_date summer_begins, summer_ends;
};

/* ---- numbers of the file --------------------------------------------------------------------- */

static uint32_t u32_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int64_t s64_at(const uint8_t *bytes)
{
    return (int64_t)((uint64_t)u32_at(bytes) << 32 | u32_at(bytes + 4));
}

/* ---- the rule -------------------------------------------------------------------------------- */

/* A name of at least three letters, or of anything between < and >. */
static bool skip_name(const char **at)
{
    const char *begin = *at;
    if (**at == '<') {
        const char *end = strchr(*at, '>');
        if (end)
            *at = end + 1;
        return end && end - begin > 3;
    }
    while ((**at >= 'A' && **at <= 'Z') || (**at >= 'a' && **at <= 'z'))
        ++*at;
    return *at - begin >= 3;
}

static bool read_number(int *out, const char **at, int least, int most)
{
    int value = 0;
    const char *begin = *at;
    while (**at >= '0' && **at <= '9' && value <= most)
        value = value * 10 + *(*at)++ - '0';
    *out = value;
    return *at > begin && value >= least && value <= most;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool read_clock(int32_t *out, const char **at)
{
    int hours = 0, minutes = 0, seconds = 0, sign = **at == '-' ? -1 : 1;
    if (**at == '+' || **at == '-')
        ++*at;
    if (!read_number(&hours, at, 0, RULE_HOURS_MAX))
        return false;
    if (**at == ':' && (++*at, !read_number(&minutes, at, 0, 59)))
        return false;
    if (**at == ':' && (++*at, !read_number(&seconds, at, 0, 59)))
        return false;
    *out = sign * (hours * HOUR_S + minutes * 60 + seconds);
    return true;
}

static bool skip(const char **at, char byte)
{
    bool is_there = **at == byte;
    *at += is_there;
    return is_there;
}

/* ,Mm.w.d or ,Jn or ,n, and /time. */
static bool read_rule_date(rule_date *out, const char **at)
{
    *out = (rule_date){ .time_s = 2 * HOUR_S };
    if (!skip(at, ','))
        return false;
    if (skip(at, 'M')) {
        if (!read_number(&out->month, at, 1, 12) || !skip(at, '.') ||
            !read_number(&out->week, at, 1, 5) || !skip(at, '.') ||
            !read_number(&out->day, at, 0, 6))
            return false;
    } else {
        out->form = skip(at, 'J') ? RULE_JULIAN : RULE_DAY;
        if (!read_number(&out->day, at, out->form == RULE_JULIAN, 365))
            return false;
    }
    return !skip(at, '/') || read_clock(&out->time_s, at);
}

static bool read_rule(casparian_zone *self, const char *text)
{
    int32_t west = 0;
    if (*text == '\0')
        return true; /* nothing is known */
    if (!skip_name(&text) || !read_clock(&west, &text))
        return false;
    self->standard_s = -west;
    self->has_rule = true;
    if (*text == '\0')
        return true;
    self->summer_s = self->standard_s + HOUR_S;
    self->has_summer = true;
    if (!skip_name(&text))
        return false;
    if (*text != ',') {
        if (!read_clock(&west, &text))
            return false;
        self->summer_s = -west;
    }
    return read_rule_date(&self->summer_begins, &text) &&
           read_rule_date(&self->summer_ends, &text) && *text == '\0';
}

/* Seconds since 1970 of the wall clock at which the rule's time comes in that year. */
static int64_t rule_moment(const rule_date *rule, int64_t year)
{
    const casparian_date january = { .year = year, .month = 1, .day = 1 };
    int64_t day = casparian_days_of(&january) + rule->day;
    if (rule->form == RULE_JULIAN) { /* 29 February is never counted */
        day += -1 + (casparian_is_leap_year(year) && rule->day >= 60);
    } else if (rule->form == RULE_MONTH) {
        const casparian_date first = { .year = year, .month = rule->month, .day = 1 };
        int64_t begin = casparian_days_of(&first);
        int64_t weekday = begin + 4 - casparian_floor_div(begin + 4, 7) * 7; /* Sunday is 0 */
        int64_t in_month = (rule->day - weekday + 7) % 7 + (rule->week - 1) * 7;
        if (in_month >= casparian_days_of_month(year, rule->month))
            in_month -= 7;
        day = begin + in_month;
    }
    return day * CASPARIAN_SECONDS_PER_DAY + rule->time_s;
}

enum { RULE_YEARS = 3 };

/* The transitions of the years around a time, in their order. @return how many */
static size_t rule_transitions(transition out[2 * RULE_YEARS], const casparian_zone *self,
                               int64_t about_s)
{
    size_t count = 0;
    int64_t days = casparian_floor_div(about_s, CASPARIAN_SECONDS_PER_DAY);
    int64_t year = casparian_date_of(days).year - 1;
    for (int i = 0; i < RULE_YEARS; i++, year++) {
        const transition begins = { rule_moment(&self->summer_begins, year) - self->standard_s,
                                    self->summer_s };
        const transition ends = { rule_moment(&self->summer_ends, year) - self->summer_s,
                                  self->standard_s };
        bool is_north = begins.at_s < ends.at_s;
        out[count++] = is_north ? begins : ends;
        out[count++] = is_north ? ends : begins;
    }
    return count;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The counts of a block. */
typedef struct block {
    size_t is_ut, is_standard, leaps, transitions, types, letters;
} block;

static block read_block(const uint8_t *header)
{
    return (block){ u32_at(header + 20), u32_at(header + 24), u32_at(header + 28),
                    u32_at(header + 32), u32_at(header + 36), u32_at(header + 40) };
}

/* @param size of a time: 4 or 8. @return the bytes behind the header; more than any file: damaged
 */
static size_t block_size(const block *counts, size_t size)
{
    const size_t all[] = { counts->is_ut,       counts->is_standard, counts->leaps,
                           counts->transitions, counts->types,       counts->letters };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i] > FILE_MAX)
            return FILE_MAX;
    }
    return counts->transitions * (size + 1) + counts->types * 6 + counts->letters +
           counts->leaps * (size + 4) + counts->is_standard + counts->is_ut;
}

static bool is_header(const uint8_t *bytes, size_t length)
{
    return length >= HEADER_SIZE && memcmp(bytes, "TZif", 4) == 0 && bytes[4] >= '2';
}

static mcp_status damaged(const char *name, const char *what, mcp_error *err)
{
    return mcp_error_set(err, MCP_E_PARSE, "the file of time zone %s is damaged: %s", name, what);
}

/* @param bytes the 64-bit block, behind its header */
static mcp_status read_transitions(casparian_zone *self, mcp_arena *arena, const char *name,
                                   const uint8_t *bytes, const block *counts, mcp_error *err)
{
    const uint8_t *indices = bytes + counts->transitions * 8;
    const uint8_t *types = indices + counts->transitions;
    transition *made = mcp_arena_array(arena, counts->transitions + 1, sizeof *made);
    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for time zone %s", name);
    for (size_t i = 0; i < counts->types; i++) {
        int32_t offset = (int32_t)u32_at(types + i * 6);
        if (offset < -OFFSET_MAX_S || offset > OFFSET_MAX_S)
            return damaged(name, "an offset of more than a day", err);
    }
    for (size_t i = 0; i < counts->transitions; i++) {
        if (indices[i] >= counts->types)
            return damaged(name, "a transition to no type", err);
        made[i] = (transition){ s64_at(bytes + i * 8), (int32_t)u32_at(types + indices[i] * 6) };
        if (i > 0 && made[i].at_s <= made[i - 1].at_s)
            return damaged(name, "transitions are out of order", err);
    }
    self->first_offset_s = (int32_t)u32_at(types);
    self->transitions = made;
    self->count = counts->transitions;
    return MCP_OK;
}

mcp_status casparian_zone_read(const casparian_zone **out, mcp_arena *arena, const char *name,
                               const uint8_t *bytes, size_t length, mcp_error *err)
{
    casparian_zone *self = mcp_arena_alloc(arena, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for time zone %s", name);
    *self = (casparian_zone){ .count = 0 };
    if (!is_header(bytes, length))
        return damaged(name, "no TZif file of version 2 or later", err);
    block counts = read_block(bytes);
    size_t first = HEADER_SIZE + block_size(&counts, 4);
    if (first > length || !is_header(bytes + first, length - first))
        return damaged(name, "it ends in its first block", err);
    bytes += first;
    length -= first;
    counts = read_block(bytes);
    size_t second = HEADER_SIZE + block_size(&counts, 8);
    if (second >= length || counts.types == 0 || bytes[second] != '\n')
        return damaged(name, "it ends in its second block", err);
    mcp_status st = read_transitions(self, arena, name, bytes + HEADER_SIZE, &counts, err);
    const uint8_t *rule = bytes + second + 1;
    const uint8_t *end = memchr(rule, '\n', length - second - 1);
    if (st == MCP_OK && !end)
        return damaged(name, "its rule has no end", err);
    const char *text = st == MCP_OK
                           ? mcp_arena_strndup(arena, (const char *)rule, (size_t)(end - rule))
                           : NULL;
    if (st == MCP_OK && !text)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for time zone %s", name);
    if (st == MCP_OK && !read_rule(self, text))
        return damaged(name, "its rule cannot be read", err);
    if (st == MCP_OK)
        *out = self;
    return st;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *casparian_zone_normal(const char *name)
{
    static const char *const same[] = { "UTC", "Z", "GMT", "Etc/UTC", "Etc/GMT", "+00:00" };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        if (strcasecmp(name, same[i]) == 0)
            return same[0];
    }
    return name;
}

/* +HH:MM or -HH:MM. */
static bool read_fixed(int32_t *out, const char *name)
{
    int32_t seconds = 0;
    const char *at = name + 1;
    if ((name[0] != '+' && name[0] != '-') || strlen(name) != 6 || name[3] != ':' ||
        name[1] < '0' || name[1] > '2' || !read_clock(&seconds, &at) || *at != '\0' ||
        seconds >= CASPARIAN_SECONDS_PER_DAY)
        return false;
    *out = name[0] == '-' ? -seconds : seconds;
    return true;
}

/* Letters, digits, '_', '+', '-' and single slashes between them: no name leads out of the
 * database. The folders of other clocks ("right/", with leap seconds) and the system's own zone are
 * none. */
static bool is_name(const char *name)
{
    static const char *const others[] = { "right/", "posix/", "posixrules", "localtime" };
    static const char allowed[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
    size_t length = strlen(name);
    if (length == 0 || length >= CASPARIAN_ZONE_NAME_SIZE || strspn(name, allowed) != length ||
        name[0] == '/' || name[length - 1] == '/' || strstr(name, "//"))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strncmp(name, others[i], strlen(others[i])) == 0)
            return false;
    }
    return true;
}

static mcp_status read_file(uint8_t **out, size_t *length, mcp_arena *arena, const char *name,
                            int file, mcp_error *err)
{
    struct stat info;
    if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no time zone %s", name);
    if (info.st_size > FILE_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "the file of time zone %s is too large", name);
    uint8_t *bytes = mcp_arena_alloc(arena, (size_t)info.st_size + 1);
    if (!bytes)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for time zone %s", name);
    size_t have = 0, most = (size_t)info.st_size;
    ssize_t got = 1;
    while (have < most && got > 0) {
        got = read(file, bytes + have, most - have);
        have += got > 0 ? (size_t)got : 0;
    }
    if (got < 0)
        return mcp_error_set(err, MCP_E_IO, "the file of time zone %s: %s", name, strerror(errno));
    *out = bytes;
    *length = have;
    return MCP_OK;
}

static mcp_status load_named(const casparian_zone **out, mcp_arena *arena, const char *name,
                             mcp_error *err)
{
    const char *folder = getenv("TZDIR");
    uint8_t *bytes = NULL;
    size_t length = 0;
    char *path = mcp_arena_printf(arena, "%s/%s",
                                  folder && *folder ? folder : "/usr/share/zoneinfo", name);
    if (!path)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for time zone %s", name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no time zone %s", name);
    mcp_status st = read_file(&bytes, &length, arena, name, file, err);
    close(file);
    return st == MCP_OK ? casparian_zone_read(out, arena, name, bytes, length, err) : st;
}

mcp_status casparian_zone_load(const casparian_zone **out, mcp_arena *arena, const char *name,
                               mcp_error *err)
{
    int32_t offset = 0;
    name = casparian_zone_normal(name);
    if (strcmp(name, "UTC") != 0 && !read_fixed(&offset, name))
        return is_name(name) ? load_named(out, arena, name, err)
                             : mcp_error_set(err, MCP_E_NOT_FOUND,
                                             "there is no time zone %.64s; names are like "
                                             "Europe/Berlin, offsets like +05:30",
                                             name);
    casparian_zone *self = mcp_arena_alloc(arena, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for time zone %s", name);
    *self = (casparian_zone){ .first_offset_s = offset };
    *out = self;
    return MCP_OK;
}

/* ---- offsets --------------------------------------------------------------------------------- */

/* The offset in force at a time: of UTC, or of the wall clock, on which a transition comes where
 * the larger of its two offsets puts it. That is the end of a skipped hour, and the end of a
 * repeated one. */
static int32_t offset_at(const transition *all, size_t count, int32_t before, int64_t at_s,
                         bool is_wall)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int32_t last = middle > 0 ? all[middle - 1].offset_s : before;
        int32_t next = all[middle].offset_s;
        int64_t moment = all[middle].at_s + (is_wall ? (last > next ? last : next) : 0);
        if (moment <= at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? all[low - 1].offset_s : before;
}

static int32_t find(const casparian_zone *zone, int64_t at_s, bool is_wall)
{
    transition made[2 * RULE_YEARS];
    const transition *last = zone->count > 0 ? &zone->transitions[zone->count - 1] : NULL;
    int32_t stored = offset_at(zone->transitions, zone->count, zone->first_offset_s, at_s, is_wall);
    int64_t margin = is_wall ? 2 * CASPARIAN_SECONDS_PER_DAY : 0;
    if (!zone->has_rule || (last && at_s - margin < last->at_s))
        return stored;
    if (!zone->has_summer)
        return zone->standard_s;
    size_t count = rule_transitions(made, zone, at_s);
    return offset_at(made, count, made[1].offset_s, at_s, is_wall);
}

int32_t casparian_zone_offset(const casparian_zone *zone, int64_t utc_s)
{
    return find(zone, utc_s, false);
}

int64_t casparian_zone_instant(const casparian_zone *zone, int64_t wall_s)
{
    return wall_s - find(zone, wall_s, true);
}

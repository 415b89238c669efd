/*
 * plain.h - how a text is read by a pattern of dates, as slowly and plainly as it can be said: the
 * pattern becomes a regular expression, and the C library knows the calendar. And texts for it:
 * those that a pattern fits, and those that it nearly fits.
 */
#ifndef TESTS_CASPARIAN_PLAIN_H
#define TESTS_CASPARIAN_PLAIN_H

#include <pcre2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schema/civil.h"
#include "schema/format.h"

/* ---- random numbers -------------------------------------------------------------------------- */

/* splitmix64 */
static inline uint64_t plain_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline unsigned plain_below(uint64_t *state, unsigned limit)
{
    return (unsigned)(plain_random(state) % limit);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A directive and its regular expression; a number of two digits is tried before one of one. */
static const struct plain_directive {
    const char *text, *expression;
} plain_directives[] = {
    { "Y", "(?<Y>(?!0000)[0-9]{4})" },
    { "y", "(?<y>[0-9]{2})" },
    { "m", "(?<m>0[1-9]|1[0-2]|[1-9])" },
    { "d", "(?<d>0[1-9]|[12][0-9]|3[01]|[1-9])" },
    { "H", "(?<H>[01][0-9]|2[0-3]|[0-9])" },
    { "M", "(?<M>[0-5][0-9]|[0-9])" },
    { "S", "(?<S>[0-5][0-9]|60|[0-9])" },
    { "f", "(?<f>[0-9]{1,9})" },
    { "3f", "(?<f>[0-9]{3})" },
    { ".f", "(?:\\.(?<f>[0-9]{1,9}))?" },
    { ".3f", "(?:\\.(?<f>[0-9]{1,9}))?" },
    { ".6f", "(?:\\.(?<f>[0-9]{1,9}))?" },
    { "z", "(?<z>Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])" },
    { "b", "(?<b>(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))" },
    { "F", "(?<Y>(?!0000)[0-9]{4})-(?<m>0[1-9]|1[0-2]|[1-9])-(?<d>0[1-9]|[12][0-9]|3[01]|[1-9])" },
    { "T", "(?<H>[01][0-9]|2[0-3]|[0-9]):(?<M>[0-5][0-9]|[0-9]):(?<S>[0-5][0-9]|60|[0-9])" },
};

enum { PLAIN_DIRECTIVES = sizeof plain_directives / sizeof plain_directives[0] };

typedef struct plain_pattern {
    pcre2_code *code;
    pcre2_match_data *data;
} plain_pattern;

/* The directive behind a '%', the longest that is there. */
static inline const struct plain_directive *plain_directive_at(const char *text)
{
    const struct plain_directive *found = NULL;
    for (size_t i = 0; i < PLAIN_DIRECTIVES; i++) {
        const struct plain_directive *of = &plain_directives[i];
        if (strncmp(text, of->text, strlen(of->text)) == 0 &&
            (!found || strlen(of->text) > strlen(found->text)))
            found = of;
    }
    return found;
}

static inline pcre2_code *plain_expression(const char *expression)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_code *made = pcre2_compile((PCRE2_SPTR)expression, PCRE2_ZERO_TERMINATED,
                                     PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY,
                                     &code, &offset, NULL);
    if (!made)
        abort();
    pcre2_jit_compile(made, PCRE2_JIT_COMPLETE);
    return made;
}

static inline plain_pattern plain_compile(const char *pattern)
{
    char expression[4096] = "";
    size_t length = 0;
    for (const char *at = pattern; *at; at++) {
        char *end = expression + length;
        size_t room = sizeof expression - length;
        if (*at == '%') {
            const struct plain_directive *of = plain_directive_at(at + 1);
            if (!of)
                abort();
            length += (size_t)snprintf(end, room, "%s", of->expression);
            at += strlen(of->text);
        } else if (*at == ' ' || *at == '\t') {
            while (at[1] == ' ' || at[1] == '\t')
                at++;
            length += (size_t)snprintf(end, room, "[ \\t]+");
        } else {
            length += (size_t)snprintf(end, room, "\\x%02x", (unsigned char)*at);
        }
        if (length >= sizeof expression)
            abort();
    }
    pcre2_code *code = plain_expression(expression);
    return (plain_pattern){ code, pcre2_match_data_create_from_pattern(code, NULL) };
}

static inline void plain_free(plain_pattern *self)
{
    pcre2_match_data_free(self->data);
    pcre2_code_free(self->code);
}

/* The text of a group. @return false: it took no part */
static inline bool plain_group(const plain_pattern *self, const char *name, char out[32])
{
    PCRE2_SIZE length = 32;
    return pcre2_substring_copy_byname(self->data, (PCRE2_SPTR)name, (PCRE2_UCHAR *)out, &length) ==
           0;
}

static inline int plain_number(const plain_pattern *self, const char *name, int otherwise)
{
    char text[32];
    return plain_group(self, name, text) ? (int)strtol(text, NULL, 10) : otherwise;
}

/* A fraction in microseconds: six digits, with zeros for those that lack. */
static inline int plain_micros(const plain_pattern *self)
{
    char text[32], six[] = "000000";
    if (plain_group(self, "f", text))
        memcpy(six, text, strlen(text) < 6 ? strlen(text) : 6);
    return (int)strtol(six, NULL, 10);
}

static inline int plain_month(const plain_pattern *self)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    char text[32];
    if (!plain_group(self, "b", text))
        return plain_number(self, "m", 0);
    for (char *at = text; *at; at++)
        *at = (char)(*at | 0x20);
    return (int)(strstr(names, text) - names) / 3 + 1;
}

/* What a text says. */
typedef struct plain_reading {
    bool has_date, has_offset;
    int64_t days;   /* since 1970 */
    int64_t micros; /* since midnight */
    int64_t offset_s;
} plain_reading;

static inline bool plain_days(int64_t *out, int year, int month, int day)
{
    struct tm given = { .tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day };
    *out = timegm(&given) / 86400; /* which moves what is no date to another one */
    return given.tm_year == year - 1900 && given.tm_mon == month - 1 && given.tm_mday == day;
}

static inline void plain_offset(plain_reading *out, const char *text)
{
    out->has_offset = true;
    if (text[0] == 'Z')
        return;
    int hours = (text[1] - '0') * 10 + text[2] - '0';
    int minutes = (int)strtol(text + strlen(text) - 2, NULL, 10);
    out->offset_s = (text[0] == '-' ? -60 : 60) * (hours * 60 + minutes);
}

static inline bool plain_match(plain_reading *out, const plain_pattern *self, const char *text,
                               size_t length)
{
    char offset[32];
    *out = (plain_reading){ .has_date = false };
    if (length > CASPARIAN_FORMAT_MAX ||
        pcre2_match(self->code, (PCRE2_SPTR)text, length, 0, 0, self->data, NULL) < 0)
        return false;
    int second = plain_number(self, "S", 0), micro = plain_micros(self);
    int century = plain_number(self, "y", 0);
    int year = plain_number(self, "Y", century < 69 ? 2000 + century : 1900 + century);
    if (second == 60) { /* is read as the end of the second before it */
        second = 59;
        micro = 999999;
    }
    out->micros = ((plain_number(self, "H", 0) * 60 + plain_number(self, "M", 0)) * 60 + second) *
                      INT64_C(1000000) +
                  micro;
    if (plain_group(self, "z", offset))
        plain_offset(out, offset);
    out->has_date = plain_number(self, "d", 0) > 0;
    return !out->has_date ||
           plain_days(&out->days, year, plain_month(self), plain_number(self, "d", 0));
}

static inline bool plain_is_same(const plain_reading *plain, const casparian_moment *seen)
{
    if (plain->has_date && casparian_days_of(&seen->date) != plain->days)
        return false;
    if (!plain->has_date && (seen->date.year || seen->date.month || seen->date.day))
        return false;
    return casparian_time_of(seen) == plain->micros && seen->has_offset == plain->has_offset &&
           seen->offset_s == plain->offset_s;
}

/* ---- texts ----------------------------------------------------------------------------------- */

enum { PLAIN_TEXT_MAX = 200 };

typedef struct plain_text {
    char bytes[PLAIN_TEXT_MAX];
    size_t length;
} plain_text;

static inline void plain_add(plain_text *out, const char *bytes, size_t length)
{
    length = length < sizeof out->bytes - out->length ? length : sizeof out->bytes - out->length;
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
}

/* A number, now and then one just outside its limits or without its zero in front. */
static inline void plain_add_number(plain_text *out, uint64_t *seed, unsigned least, unsigned most,
                                    unsigned digits)
{
    char text[16];
    unsigned value = least + plain_below(seed, most - least + 1);
    if (plain_below(seed, 6) == 0)
        value = most - plain_below(seed, 3);
    if (plain_below(seed, 24) == 0)
        value = plain_below(seed, 2) ? most + 1 : least ? least - 1 : 0;
    bool is_thin = plain_below(seed, 12) == 0;
    int length = snprintf(text, sizeof text, "%0*u", is_thin ? 1 : (int)digits, value);
    plain_add(out, text, (size_t)length);
}

static inline void plain_add_digits(plain_text *out, uint64_t *seed, unsigned count)
{
    for (; count > 0; count--)
        plain_add(out, "0123456789" + plain_below(seed, 10), 1);
}

static inline void plain_add_year(plain_text *out, uint64_t *seed)
{
    static const char *const years[] = { "0000", "0001", "0004", "0100", "1600", "1900", "2000",
                                         "2024", "2100", "9999", "1970", "1969", "0400", "12" };
    if (plain_below(seed, 4) == 0) {
        const char *year = years[plain_below(seed, sizeof years / sizeof years[0])];
        plain_add(out, year, strlen(year));
    } else {
        plain_add_number(out, seed, 1900, 2100, 4);
    }
}

static inline void plain_add_name(plain_text *out, uint64_t *seed)
{
    static const char *const names[] = { "Jan", "FEB", "mar", "Apr", "mAY", "Jun",  "Jul", "Aug",
                                         "Sep", "OCT", "nov", "Dec", "Oct", "Sept", "Mai", "Ja" };
    const char *name = names[plain_below(seed, sizeof names / sizeof names[0])];
    plain_add(out, name, strlen(name));
}

static inline void plain_add_offset(plain_text *out, uint64_t *seed)
{
    static const char *const offsets[] = { "Z",      "+00:00", "-00:00", "+0000",  "-0330",
                                           "+05:30", "+23:59", "-23:59", "+14:00", "+24:00",
                                           "+05:60", "z",      "+05",    "+5:30",  "+0530 ",
                                           "05:30",  "",       "+05:3",  "+05-30", "+0:530",
                                           "ZZ",     "+05:30Z" };
    const char *offset = offsets[plain_below(seed, sizeof offsets / sizeof offsets[0])];
    plain_add(out, offset, strlen(offset));
}

static inline void plain_add_fraction(plain_text *out, uint64_t *seed, const char *directive)
{
    bool has_point = directive[0] == '.';
    if (has_point && plain_below(seed, 4) == 0)
        return;
    if (has_point)
        plain_add(out, ".", 1);
    plain_add_digits(out, seed,
                     plain_below(seed, 8) == 0 ? plain_below(seed, 12) : 1 + plain_below(seed, 9));
}

static inline void plain_add_directive(plain_text *out, uint64_t *seed, const char *directive)
{
    switch (directive[strlen(directive) - 1]) {
    case 'Y':
        plain_add_year(out, seed);
        break;
    case 'y':
        plain_add_number(out, seed, 0, 99, 2);
        break;
    case 'm':
        plain_add_number(out, seed, 1, 12, 2);
        break;
    case 'd':
        plain_add_number(out, seed, 1, plain_below(seed, 2) ? 28 : 31, 2);
        break;
    case 'H':
        plain_add_number(out, seed, 0, 23, 2);
        break;
    case 'M':
        plain_add_number(out, seed, 0, 59, 2);
        break;
    case 'S':
        plain_add_number(out, seed, 0, 60, 2);
        break;
    case 'b':
        plain_add_name(out, seed);
        break;
    case 'z':
        plain_add_offset(out, seed);
        break;
    case 'F':
        plain_add_year(out, seed);
        plain_add(out, "-", 1);
        plain_add_number(out, seed, 1, 12, 2);
        plain_add(out, "-", 1);
        plain_add_number(out, seed, 1, 31, 2);
        break;
    case 'T':
        plain_add_number(out, seed, 0, 23, 2);
        plain_add(out, ":", 1);
        plain_add_number(out, seed, 0, 59, 2);
        plain_add(out, ":", 1);
        plain_add_number(out, seed, 0, 60, 2);
        break;
    default:
        plain_add_fraction(out, seed, directive);
    }
}

/* A text that a pattern fits, mostly. */
static inline void plain_text_for(plain_text *out, uint64_t *seed, const char *pattern)
{
    static const char *const blanks[] = { " ", " ", " ", " ", "  ", "\t", " \t ", "" };
    *out = (plain_text){ .length = 0 };
    for (const char *at = pattern; *at; at++) {
        const char *blank = blanks[plain_below(seed, sizeof blanks / sizeof blanks[0])];
        if (*at == '%') {
            const struct plain_directive *of = plain_directive_at(at + 1);
            plain_add_directive(out, seed, of->text);
            at += strlen(of->text);
        } else if (*at == ' ' || *at == '\t') {
            plain_add(out, blank, strlen(blank));
        } else {
            plain_add(out, at, 1);
        }
    }
}

/* The shortest text that a pattern fits, or the longest but for blanks. */
static inline void plain_extreme(plain_text *out, const char *pattern, bool is_longest)
{
    static const struct {
        const char *directive, *shortest, *longest;
    } texts[] = {
        { "Y", "2024", "2024" },   { "y", "24", "24" },        { "m", "2", "12" },
        { "d", "1", "31" },        { "H", "0", "23" },         { "M", "0", "59" },
        { "S", "0", "59" },        { "b", "oct", "DEC" },      { "z", "Z", "+05:30" },
        { "f", "1", "123456789" }, { ".f", "", ".123456789" },
    };
    *out = (plain_text){ .length = 0 };
    for (const char *at = pattern; *at; at++) {
        const struct plain_directive *of = *at == '%' ? plain_directive_at(at + 1) : NULL;
        for (size_t i = 0; of && i < sizeof texts / sizeof texts[0]; i++) {
            const char *text = is_longest ? texts[i].longest : texts[i].shortest;
            if (strcmp(of->text, texts[i].directive) == 0)
                plain_add(out, text, strlen(text));
        }
        if (!of)
            plain_add(out, at, 1);
        at += of ? strlen(of->text) : 0;
    }
}

/* What a byte of a text is changed to. */
static const char plain_bytes[] = "0123456789-/.:+ TZztPnNeEx,\t\n\xC3\xA9\xB9\x7F\x00";

enum { PLAIN_BYTES = sizeof plain_bytes - 1 };

/* One change: another byte, one more, one less, an end cut off, bytes behind the end. */
static inline void plain_spoil(plain_text *self, uint64_t *seed)
{
    unsigned at = self->length ? plain_below(seed, (unsigned)self->length) : 0;
    char byte = plain_bytes[plain_below(seed, PLAIN_BYTES)];
    bool has_room = self->length + 1 < sizeof self->bytes;
    switch (plain_below(seed, 6)) {
    case 0:
    case 1:
        self->bytes[at] = byte;
        break;
    case 2:
        if (has_room) {
            memmove(self->bytes + at + 1, self->bytes + at, self->length - at);
            self->bytes[at] = byte;
            self->length++;
        }
        break;
    case 3:
        memmove(self->bytes + at, self->bytes + at + 1, self->length - at);
        self->length -= self->length > 0;
        break;
    case 4:
        self->length = at;
        break;
    default:
        for (unsigned left = 1 + plain_below(seed, 3); left > 0; left--)
            plain_add(self, &byte, 1);
    }
}

/* A copy that ends where the memory does, so that AddressSanitizer sees a byte read behind it. */
static inline const char *plain_at_end(char *memory, size_t size, const plain_text *text)
{
    memset(memory, '1', size - text->length);
    memcpy(memory + size - text->length, text->bytes, text->length);
    return memory + size - text->length;
}

#endif

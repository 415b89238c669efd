/*
 * form.c - forms of texts, from the narrowest on.
 */
#include <string.h>

#include "parsers/evtx_native/form.h"

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static int hex_digit(char byte)
{
    if (is_digit(byte))
        return byte - '0';
    if (byte >= 'a' && byte <= 'f')
        return byte - 'a' + 10;
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

static bool begins_with(struct casparian_text text, const char *prefix)
{
    size_t length = strlen(prefix);

    return text.length >= length && memcmp(text.bytes, prefix, length) == 0;
}

static bool is_word(struct casparian_text text, const char *word)
{
    return text.length == strlen(word) && begins_with(text, word);
}

bool casparian_form_integer(struct casparian_text text, int64_t *out)
{
    bool is_negative = text.length > 0 && text.bytes[0] == '-';
    int64_t value = 0;

    if (text.length == is_negative)
        return false;
    for (size_t i = is_negative; i < text.length; i++) {
        int digit = is_digit(text.bytes[i]) ? text.bytes[i] - '0' : -1;
        if (digit < 0 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, is_negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* 0x and digits, of a value within int64. */
static bool read_hex(struct casparian_text text, int64_t *out)
{
    int64_t value = 0;

    if (text.length < 3 || !begins_with(text, "0x"))
        return false;
    for (size_t i = 2; i < text.length; i++) {
        int digit = hex_digit(text.bytes[i]);
        if (digit < 0 || __builtin_mul_overflow(value, 16, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* Eight, four, four, four and twelve digits, perhaps in braces. */
static bool is_guid(struct casparian_text text)
{
    if (text.length == 38 && text.bytes[0] == '{' && text.bytes[37] == '}')
        text = (struct casparian_text){ text.bytes + 1, 36 };
    if (text.length != 36)
        return false;
    for (size_t i = 0; i < 36; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? text.bytes[i] != '-' : hex_digit(text.bytes[i]) < 0)
            return false;
    }
    return true;
}

static int number_at(const char *at, size_t count)
{
    int value = 0;

    for (size_t i = 0; i < count; i++) {
        if (!is_digit(at[i]))
            return -1;
        value = value * 10 + (at[i] - '0');
    }
    return value;
}

static int days_in(int year, int month)
{
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return month == 2 && is_leap ? 29 : days[month - 1];
}

/* Days since 1970-01-01 in the Gregorian calendar, by years that begin in March. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* The offset of RFC 3339 that is all of a text, in seconds. */
static bool read_offset(const char *at, size_t length, int64_t *seconds)
{
    *seconds = 0;
    if (length == 1 && *at == 'Z')
        return true;
    if (length != 6 || (*at != '+' && *at != '-') || at[3] != ':')
        return false;
    int hours = number_at(at + 1, 2), minutes = number_at(at + 4, 2);
    *seconds = (hours * 60 + minutes) * 60 * (*at == '-' ? -1 : 1);
    return hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60;
}

/* RFC 3339; digits beyond microseconds are cut. */
static bool read_time(struct casparian_text text, int64_t *micros)
{
    const char *at = text.bytes;
    int64_t rest = 0, unit = 100000, offset = 0;
    size_t i = 19;

    if (text.length < 20 || at[4] != '-' || at[7] != '-' || at[10] != 'T' || at[13] != ':' ||
        at[16] != ':')
        return false;
    int year = number_at(at, 4), month = number_at(at + 5, 2), day = number_at(at + 8, 2);
    int hour = number_at(at + 11, 2), minute = number_at(at + 14, 2),
        second = number_at(at + 17, 2);
    if (year < 0 || month < 1 || month > 12 || day < 1 || day > days_in(year, month) || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    if (at[i] == '.') {
        for (i++; i < text.length && is_digit(at[i]); i++, unit /= 10)
            rest += (at[i] - '0') * unit;
    }
    if (!read_offset(at + i, text.length - i, &offset))
        return false;
    *micros = (days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset) *
                  1000000 +
              rest;
    return true;
}

struct casparian_form casparian_form_of(struct casparian_text text)
{
    struct casparian_form form = { .name = "string" };

    if (text.length == 0)
        form.name = "empty";
    else if (is_word(text, "true") || is_word(text, "false"))
        form = (struct casparian_form){ .name = "bool",
                                        .has_boolean = true,
                                        .boolean = text.bytes[0] == 't' };
    else if (read_hex(text, &form.integer))
        form.name = "hex", form.has_integer = true;
    else if (casparian_form_integer(text, &form.integer))
        form.name = "int", form.has_integer = true;
    else if (read_time(text, &form.micros))
        form.name = "timestamp", form.has_micros = true;
    else if (begins_with(text, "P") && text.length > 1 &&
             (is_digit(text.bytes[1]) || text.bytes[1] == 'T'))
        form.name = "duration";
    else if (begins_with(text, "S-1-"))
        form.name = "sid";
    else if (is_guid(text))
        form.name = "guid";
    return form;
}

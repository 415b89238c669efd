/*
 * format.c - the formats that can assert, each read by hand from its RFC.
 *
 * Only what is ASCII in the RFC is accepted: internationalised forms have formats of their own,
 * which are not served. A reader takes a cursor over the text, moves it and says whether it
 * liked what it saw; a format is accepted when its reader comes to the end.
 */
#include "schema/node.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "schema/pattern.h"

typedef struct cursor {
    const char *at;
    const char *end;
} cursor;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c);
}

static bool done(const cursor *c)
{
    return c->at == c->end;
}

static char peek(const cursor *c)
{
    return done(c) ? '\0' : *c->at;
}

static bool skip(cursor *c, const char *one_of)
{
    if (done(c) || !is_one_of(*c->at, one_of))
        return false;
    c->at++;
    return true;
}

static bool number(cursor *c, int digits, int *out)
{
    int value = 0;

    for (int i = 0; i < digits; i++, c->at++) {
        if (!is_digit(peek(c)))
            return false;
        value = value * 10 + (*c->at - '0');
    }
    *out = value;
    return true;
}

/* ---- times (RFC 3339) ----------------------------------------------------------------------- */

static bool full_date(cursor *c)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int year = 0;
    int month = 0;
    int day = 0;

    if (!number(c, 4, &year) || !skip(c, "-") || !number(c, 2, &month) || !skip(c, "-") ||
        !number(c, 2, &day) || month < 1 || month > 12)
        return false;
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day >= 1 && day <= days[month - 1] + (month == 2 && is_leap ? 1 : 0);
}

static bool offset(cursor *c, int *minutes)
{
    int hour = 0;
    int minute = 0;
    char sign = peek(c);

    *minutes = 0;
    if (skip(c, "Zz"))
        return true;
    if (!skip(c, "+-") || !number(c, 2, &hour) || !skip(c, ":") || !number(c, 2, &minute))
        return false;
    *minutes = (hour * 60 + minute) * (sign == '-' ? -1 : 1);
    return hour <= 23 && minute <= 59;
}

/* A 60th second may only be the last one of a day in UTC. */
static bool full_time(cursor *c)
{
    int hour = 0;
    int minute = 0;
    int second = 0;
    int east = 0;

    if (!number(c, 2, &hour) || !skip(c, ":") || !number(c, 2, &minute) || !skip(c, ":") ||
        !number(c, 2, &second))
        return false;
    if (skip(c, ".")) {
        if (!is_digit(peek(c)))
            return false;
        while (is_digit(peek(c)))
            c->at++;
    }
    if (!offset(c, &east) || hour > 23 || minute > 59 || second > 60)
        return false;
    int utc = (hour * 60 + minute - east + 2 * 1440) % 1440;
    return second < 60 || utc == 1439;
}

static bool accepts_date(const char *text, size_t length)
{
    cursor c = { text, text + length };

    return full_date(&c) && done(&c);
}

static bool accepts_time(const char *text, size_t length)
{
    cursor c = { text, text + length };

    return full_time(&c) && done(&c);
}

static bool accepts_date_time(const char *text, size_t length)
{
    cursor c = { text, text + length };

    return full_date(&c) && skip(&c, "Tt") && full_time(&c) && done(&c);
}

/* Numbers with units that must come in this order without a gap inside (RFC 3339 appendix A). */
static size_t units(cursor *c, const char *order)
{
    size_t count = 0;
    const char *expected = order;

    while (is_digit(peek(c))) {
        while (is_digit(peek(c)))
            c->at++;
        const char *found = done(c) ? NULL : strchr(expected, *c->at);
        if (!found || (count > 0 && found != expected))
            return 0;
        c->at++;
        count++;
        expected = found + 1;
        if (*expected == '\0')
            break;
    }
    return count;
}

static bool accepts_duration(const char *text, size_t length)
{
    cursor c = { text, text + length };

    if (memchr(text, '\0', length) || !skip(&c, "P"))
        return false;
    if (length > 2 && text[length - 1] == 'W')
        return units(&c, "W") == 1 && done(&c);
    size_t count = is_digit(peek(&c)) ? units(&c, "YMD") : 0;
    if (done(&c))
        return count > 0;
    return skip(&c, "T") && units(&c, "HMS") > 0 && done(&c);
}

/* ---- hosts ---------------------------------------------------------------------------------- */

/* Labels of letters, digits and inner hyphens (RFC 1123 section 2.1). */
static bool accepts_hostname(const char *text, size_t length)
{
    size_t label = 0;

    if (length == 0 || length > 253)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool is_last = i + 1 == length || text[i + 1] == '.';
        if (text[i] == '.') {
            if (label == 0)
                return false;
            label = 0;
            continue;
        }
        label++;
        if (text[i] == '-' ? label == 1 || is_last : !is_letter(text[i]) && !is_digit(text[i]))
            return false;
        /* "--" third and fourth is kept for encodings (RFC 5891 4.2.3.1), of which "xn" is the
         * one. */
        if (label == 4 && text[i] == '-' && text[i - 1] == '-' &&
            strncasecmp(text + i - 3, "xn", 2) != 0)
            return false;
        if (label > 63)
            return false;
    }
    return label > 0;
}

static bool is_address(int family, const char *text, size_t length)
{
    char copy[INET6_ADDRSTRLEN];
    unsigned char address[16];

    if (length >= sizeof copy || memchr(text, '\0', length))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return inet_pton(family, copy, address) == 1;
}

static bool accepts_ipv4(const char *text, size_t length)
{
    return is_address(AF_INET, text, length);
}

static bool accepts_ipv6(const char *text, size_t length)
{
    return is_address(AF_INET6, text, length);
}

/* ---- email (RFC 5321 section 4.1.2) --------------------------------------------------------- */

static bool is_atom_character(char c)
{
    return is_letter(c) || is_digit(c) || is_one_of(c, "!#$%&'*+-/=?^_`{|}~");
}

static bool dot_string(cursor *c)
{
    do {
        if (!is_atom_character(peek(c)))
            return false;
        while (is_atom_character(peek(c)))
            c->at++;
    } while (skip(c, "."));
    return true;
}

static bool quoted_string(cursor *c)
{
    for (c->at++; !done(c) && *c->at != '"'; c->at++) {
        if (*c->at == '\\')
            c->at++;
        if (done(c) || *c->at < ' ' || *c->at > '~')
            return false;
    }
    return skip(c, "\"");
}

static bool accepts_email(const char *text, size_t length)
{
    cursor c = { text, text + length };

    if (!(peek(&c) == '"' ? quoted_string(&c) : dot_string(&c)))
        return false;
    if (c.at - text > 64 || !skip(&c, "@"))
        return false;
    size_t rest = (size_t)(c.end - c.at);
    if (rest < 3 || *c.at != '[' || c.end[-1] != ']')
        return accepts_hostname(c.at, rest);
    if (rest > 7 && strncasecmp(c.at, "[IPv6:", 6) == 0)
        return accepts_ipv6(c.at + 6, rest - 7);
    return accepts_ipv4(c.at + 1, rest - 2);
}

/* ---- URIs (RFC 3986) ------------------------------------------------------------------------ */

/* Unreserved characters, escapes, sub-delimiters and those in `more`. */
static bool uri_characters(cursor *c, const char *more)
{
    while (!done(c)) {
        char next = *c->at;
        if (next == '%') {
            if (c->end - c->at < 3 || !is_hex(c->at[1]) || !is_hex(c->at[2]))
                return false;
            c->at += 2;
        } else if (!is_letter(next) && !is_digit(next) && !is_one_of(next, "-._~!$&'()*+,;=") &&
                   !is_one_of(next, more)) {
            return true;
        }
        c->at++;
    }
    return true;
}

/* "[" IPv6 or IPvFuture "]". */
static bool ip_literal(cursor *c)
{
    const char *begin = c->at + 1;
    const char *close = memchr(begin, ']', (size_t)(c->end - begin));

    if (!close)
        return false;
    c->at = close + 1;
    if (begin < close && (*begin == 'v' || *begin == 'V')) {
        cursor future = { begin + 1, close };
        while (is_hex(peek(&future)))
            future.at++;
        return future.at > begin + 1 && skip(&future, ".") && !done(&future) &&
               !memchr(future.at, '%', (size_t)(close - future.at)) &&
               uri_characters(&future, ":") && done(&future);
    }
    return accepts_ipv6(begin, (size_t)(close - begin));
}

static bool authority(cursor *c)
{
    cursor user = *c;

    if (!uri_characters(&user, ":"))
        return false;
    if (skip(&user, "@"))
        *c = user;
    if (peek(c) == '[') {
        if (!ip_literal(c))
            return false;
    } else if (!uri_characters(c, "")) {
        return false;
    }
    if (skip(c, ":")) {
        while (is_digit(peek(c)))
            c->at++;
    }
    return done(c) || is_one_of(*c->at, "/?#");
}

/* What follows a scheme, or all of a relative reference. */
static bool hierarchy(cursor *c)
{
    if (c->end - c->at >= 2 && c->at[0] == '/' && c->at[1] == '/') {
        c->at += 2;
        if (!authority(c))
            return false;
    }
    if (!uri_characters(c, ":@/"))
        return false;
    if (skip(c, "?") && !uri_characters(c, ":@/?"))
        return false;
    if (skip(c, "#") && !uri_characters(c, ":@/?"))
        return false;
    return done(c);
}

static bool scheme(cursor *c)
{
    if (!is_letter(peek(c)))
        return false;
    while (is_letter(peek(c)) || is_digit(peek(c)) || is_one_of(peek(c), "+-."))
        c->at++;
    return skip(c, ":");
}

static bool accepts_uri(const char *text, size_t length)
{
    cursor c = { text, text + length };

    return scheme(&c) && hierarchy(&c);
}

static bool accepts_uri_reference(const char *text, size_t length)
{
    cursor c = { text, text + length };
    const char *colon = memchr(text, ':', length);

    if (accepts_uri(text, length))
        return true;
    for (const char *at = text; colon && at < colon; at++) {
        if (is_one_of(*at, "/?#"))
            colon = NULL; /* only the first segment must be free of colons (RFC 3986 4.2) */
    }
    return !colon && hierarchy(&c);
}

/* ---- the rest ------------------------------------------------------------------------------- */

static bool accepts_uuid(const char *text, size_t length)
{
    if (length != 36)
        return false;
    for (size_t i = 0; i < length; i++) {
        bool is_hyphen = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_hyphen ? text[i] != '-' : !is_hex(text[i]))
            return false;
    }
    return true;
}

/* Empty, or tokens that each begin with '/'; '~' only as ~0 and ~1 (RFC 6901). */
static bool accepts_json_pointer(const char *text, size_t length)
{
    if (length > 0 && text[0] != '/')
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '~' && (i + 1 == length || (text[i + 1] != '0' && text[i + 1] != '1')))
            return false;
    }
    return true;
}

static bool accepts_relative_json_pointer(const char *text, size_t length)
{
    cursor c = { text, text + length };

    if (!is_digit(peek(&c)))
        return false;
    bool is_zero = *c.at == '0';
    while (is_digit(peek(&c)))
        c.at++;
    if (is_zero && c.at - text > 1)
        return false;
    if (c.end - c.at == 1 && *c.at == '#')
        return true;
    return accepts_json_pointer(c.at, (size_t)(c.end - c.at));
}

static const mcp__format formats[] = {
    { "date-time", accepts_date_time, 0 },
    { "date", accepts_date, 0 },
    { "time", accepts_time, 0 },
    { "duration", accepts_duration, 0 },
    { "email", accepts_email, 0 },
    { "hostname", accepts_hostname, 0 },
    { "ipv4", accepts_ipv4, 0 },
    { "ipv6", accepts_ipv6, 0 },
    { "uri", accepts_uri, 0 },
    { "uri-reference", accepts_uri_reference, 0 },
    { "uuid", accepts_uuid, 0 },
    { "json-pointer", accepts_json_pointer, 0 },
    { "relative-json-pointer", accepts_relative_json_pointer, 0 },
    { "regex", mcp__pattern_is_valid, 500 },
};

const mcp__format *mcp__format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

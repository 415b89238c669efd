/*
 * format.c - the formats that can assert: each one's grammar, from its RFC, as an expression.
 *
 * A macro has the name of the RFC's rule. Only what is ASCII in the RFC is accepted:
 * internationalised forms have formats of their own, which are not served. An expression must not
 * backtrack far: a character that ends a run is never one of the run.
 */
#include "schema/node.h"

#include <ctype.h>
#include <string.h>

/* RFC 3339 */
#define LEAP_YEAR "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
#define FULL_DATE                                                                                  \
    "(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)" \
    "|02-(?:0[1-9]|1\\d|2[0-8]))|" LEAP_YEAR "-02-29)"
#define HOUR_MINUTE "(?:[01]\\d|2[0-3]):[0-5]\\d"
#define FULL_TIME HOUR_MINUTE ":(?:[0-5]\\d|60)(?:\\.\\d+)?(?:[Zz]|[+-]" HOUR_MINUTE ")"
#define UNITS(a, b, c) "(?:\\d+" a "(?:\\d+" b "(?:\\d+" c ")?)?|\\d+" b "(?:\\d+" c ")?|\\d+" c ")"
#define DUR_DATE UNITS("Y", "M", "D")
#define DUR_TIME "T" UNITS("H", "M", "S")

/* RFC 1123, section 2.1. "--" third and fourth is kept for encodings (RFC 5891, section 4.2.3.1),
 * of which "xn" is the one. */
#define LABEL "(?!(?![Xx][Nn])..--)[A-Za-z\\d](?:[A-Za-z\\d-]{0,61}[A-Za-z\\d])?"
#define HOSTNAME "(?=.{1,253}$)" LABEL "(?:\\." LABEL ")*"

/* RFC 3986, section 3.2.2 */
#define HEXDIG "[\\dA-Fa-f]"
#define DEC_OCTET "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
#define IPV4 DEC_OCTET "(?:\\." DEC_OCTET "){3}"
#define H16 HEXDIG "{1,4}"
#define LS32 "(?:" H16 ":" H16 "|" IPV4 ")"
#define UP_TO(count) "(?:(?:" H16 ":){0," #count "}" H16 ")?"
#define IPV6                                                                                       \
    "(?:(?:" H16 ":){6}" LS32 "|::(?:" H16 ":){5}" LS32                                            \
    "|" UP_TO(0) "::(?:" H16 ":){4}" LS32 "|" UP_TO(1) "::(?:" H16 ":){3}" LS32 "|" UP_TO(         \
        2) "::(?:" H16 ":){2}" LS32                                                                \
           "|" UP_TO(3) "::" H16 ":" LS32 "|" UP_TO(4) "::" LS32 "|" UP_TO(5) "::" H16             \
                                                                              "|" UP_TO(6) "::)"

/* RFC 5321, section 4.1.2; the lookahead is the 64 octets of its section 4.5.3.1.1. */
#define ATOM "[A-Za-z\\d!#$%&'*+/=?^_`{|}~-]+"
#define QUOTED_STRING "\"[ !#-\\[\\]-~]*(?:\\\\[ -~][ !#-\\[\\]-~]*)*\""
#define LOCAL_PART "(?=.{1,64}@[^@]*$)(?:" ATOM "(?:\\." ATOM ")*|" QUOTED_STRING ")"
#define ADDRESS_LITERAL "\\[(?:" IPV4 "|[Ii][Pp][Vv]6:" IPV6 ")\\]"

/* RFC 3986, sections 3 and 4. A group that is repeated for each escape would need memory for each,
 * so what follows a '%', or a '~' below, is looked at by functions. */
#define UNRESERVED_SUB_DELIMS "A-Za-z\\d._~!$&'()*+,;="
#define CHARACTERS(more) "[" UNRESERVED_SUB_DELIMS "%" more "-]*"
#define IP_LITERAL "\\[(?:" IPV6 "|[Vv]" HEXDIG "+\\.[" UNRESERVED_SUB_DELIMS ":-]+)\\]"
#define AUTHORITY "(?:" CHARACTERS(":") "@)?(?:" IP_LITERAL "|" CHARACTERS("") ")(?::\\d*)?"
#define HIER_PART "(?://" AUTHORITY "(?=[/?#]|$)|(?!//))" CHARACTERS(":@/")
#define QUERY_FRAGMENT "(?:\\?" CHARACTERS(":@/?") ")?(?:#" CHARACTERS(":@/?") ")?"
#define OF_A_URI "!#-;=?-Z\\[\\]_a-z~"
#define URI_CHARACTERS "(?![" OF_A_URI "]*[^" OF_A_URI "])" /* refuses others at once */
#define SCHEME "[A-Za-z][A-Za-z\\d+.-]*:"

/* RFC 6901, section 3 */
#define POINTER "(?:/[^]*)?"

static int two_digits(const char *at)
{
    return (at[0] - '0') * 10 + at[1] - '0';
}

/* In a full-time, or one behind a date: a 60th second may only be the last one of a day in UTC. */
static bool has_fitting_second(const char *text, size_t length)
{
    const char *time = text[2] == ':' ? text : text + 11;
    const char *offset = text + length - 6;
    int minute = two_digits(time) * 60 + two_digits(time + 3);

    if (text[length - 1] != 'Z' && text[length - 1] != 'z')
        minute -= (two_digits(offset + 1) * 60 + two_digits(offset + 4)) *
                  (*offset == '-' ? -1 : 1);
    return two_digits(time + 6) < 60 || (minute + 1440) % 1440 == 1439;
}

/* Behind each '%' are two hexadecimal digits. */
static bool has_whole_octets(const char *text, size_t length)
{
    const char *end = text + length;
    const char *at = memchr(text, '%', length);

    while (at) {
        if (end - at < 3 || !isxdigit((unsigned char)at[1]) || !isxdigit((unsigned char)at[2]))
            return false;
        at = memchr(at + 1, '%', (size_t)(end - at - 1));
    }
    return true;
}

/* Behind each '~' is a 0 or a 1. */
static bool has_whole_escapes(const char *text, size_t length)
{
    const char *end = text + length;
    const char *at = memchr(text, '~', length);

    while (at) {
        if (end - at < 2 || (at[1] != '0' && at[1] != '1'))
            return false;
        at = memchr(at + 1, '~', (size_t)(end - at - 1));
    }
    return true;
}

static const mcp__format formats[] = {
    { "date-time", "^" FULL_DATE "[Tt]" FULL_TIME "$", has_fitting_second, 0 },
    { "date", "^" FULL_DATE "$", NULL, 0 },
    { "time", "^" FULL_TIME "$", has_fitting_second, 0 },
    { "duration", "^P(?:" DUR_DATE "(?:" DUR_TIME ")?|" DUR_TIME "|\\d+W)$", NULL, 0 },
    { "email", "^" LOCAL_PART "@(?:" HOSTNAME "|" ADDRESS_LITERAL ")$", NULL, 0 },
    { "hostname", "^" HOSTNAME "$", NULL, 0 },
    { "ipv4", "^" IPV4 "$", NULL, 0 },
    { "ipv6", "^" IPV6 "$", NULL, 0 },
    { "uri", "^" URI_CHARACTERS SCHEME HIER_PART QUERY_FRAGMENT "$", has_whole_octets, 0 },
    /* Only the first segment must be free of colons (section 4.2). */
    { "uri-reference",
      "^" URI_CHARACTERS "(?:" SCHEME "|(?![^/?#:]*:))" HIER_PART QUERY_FRAGMENT "$",
      has_whole_octets, 0 },
    { "uuid", "^" HEXDIG "{8}(?:-" HEXDIG "{4}){3}-" HEXDIG "{12}$", NULL, 0 },
    { "json-pointer", "^" POINTER "$", has_whole_escapes, 0 },
    { "relative-json-pointer", "^(?:0|[1-9]\\d*)(?:#|" POINTER ")$", has_whole_escapes, 0 },
    { "regex", "", mcp__pattern_is_valid, 500 },
};

const mcp__format *mcp__format_find(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    }
    return NULL;
}

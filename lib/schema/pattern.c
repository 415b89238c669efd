/*
 * pattern.c - ECMA-262 expressions, translated and run by PCRE2.
 *
 * The two languages look alike and differ in traps: PCRE2's \s and . mean other sets, \v is a
 * class, \a \h \Z \R, (*VERB), (?i), possessive quantifiers and [[:alpha:]] exist only there,
 * and long property names only here. So the expression is parsed and translated;
 * what ECMA-262 does not know is refused. Punctuation may be escaped without need, and { } ] may
 * stand for themselves: strictly an error under the `u` flag, but common in schemas and
 * harmless.
 *
 * PCRE2's match limit starts again at each place where a match could begin, and does not count
 * the length of a greedy run, so alone it bounds nothing: `\s+$` on a megabyte of spaces takes
 * minutes. Therefore the code has a call-out before each item, which counts items and distance
 * and ends the match when the steps of the check are used up.
 */
#include "schema/pattern.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "mcp/buf.h"

enum {
    PATTERN_MAX = 16384,      /* bytes of an expression */
    TRANSLATED_MAX = 1 << 19, /* \S in a class grows most, to about 200 bytes */
    NESTING_MAX = 200,
    MATCH_LIMIT = 100000,
    HEAP_LIMIT_KIB = 4096,
    BYTES_A_STEP = 64
};

struct mcp__pattern {
    pcre2_code *code;
    mcp__pattern *next;
};

typedef struct translation {
    const char *text;
    size_t length;
    size_t at;
    mcp_buf out;
    const char *fault; /* what is wrong, NULL as long as nothing is */
} translation;

static const char white_space[] = "\\x09-\\x0d\\x20\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}"
                                  "\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";

static const char not_white_space[] =
    "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}"
    "\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}"
    "\\x{ff00}-\\x{10ffff}";

/* General categories by their long names and aliases (Unicode, PropertyValueAliases); PCRE2 has
 * the short. */
/* clang-format off */
static const struct {
    const char *name;
    const char *code;
} categories[] = {
    {"Cased_Letter", "L&"},          {"Letter_Number", "Nl"},     {"Other_Symbol", "So"},
    {"Close_Punctuation", "Pe"},     {"Line_Separator", "Zl"},    {"Paragraph_Separator", "Zp"},
    {"Connector_Punctuation", "Pc"}, {"Lowercase_Letter", "Ll"},  {"Private_Use", "Co"},
    {"Control", "Cc"},               {"Mark", "M"},               {"Punctuation", "P"},
    {"cntrl", "Cc"},                 {"Combining_Mark", "M"},     {"punct", "P"},
    {"Currency_Symbol", "Sc"},       {"Math_Symbol", "Sm"},       {"Separator", "Z"},
    {"Dash_Punctuation", "Pd"},      {"Modifier_Letter", "Lm"},   {"Space_Separator", "Zs"},
    {"Decimal_Number", "Nd"},        {"Modifier_Symbol", "Sk"},   {"Spacing_Mark", "Mc"},
    {"digit", "Nd"},                 {"Nonspacing_Mark", "Mn"},   {"Surrogate", "Cs"},
    {"Enclosing_Mark", "Me"},        {"Number", "N"},             {"Symbol", "S"},
    {"Final_Punctuation", "Pf"},     {"Open_Punctuation", "Ps"},  {"Titlecase_Letter", "Lt"},
    {"Format", "Cf"},                {"Other", "C"},              {"Unassigned", "Cn"},
    {"Initial_Punctuation", "Pi"},   {"Other_Letter", "Lo"},      {"Uppercase_Letter", "Lu"},
    {"LC", "L&"},                    {"Other_Number", "No"},
    {"Letter", "L"},                 {"Other_Punctuation", "Po"},
};
/* clang-format on */

/* ---- reading the expression ----------------------------------------------------------------- */

static bool fail(translation *t, const char *fault)
{
    if (!t->fault)
        t->fault = fault;
    return false;
}

static int peek(const translation *t, size_t ahead)
{
    return t->at + ahead < t->length ? (unsigned char)t->text[t->at + ahead] : -1;
}

static bool skip(translation *t, const char *text)
{
    size_t length = strlen(text);

    if (t->length - t->at < length || memcmp(t->text + t->at, text, length) != 0)
        return false;
    t->at += length;
    return true;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int hex_value(int c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Write one literal character, in a class or outside. */
static void emit_character(translation *t, uint32_t c)
{
    if (c < 128 && (is_letter((int)c) || is_digit((int)c)))
        mcp_buf_putc(&t->out, (char)c);
    else
        mcp_buf_printf(&t->out, "\\x{%x}", (unsigned)c);
}

/* Hexadecimal digits, up to `most` and to a value that is no character. @return how many */
static size_t read_digits(translation *t, size_t most, uint32_t *out)
{
    size_t count = 0;

    for (*out = 0; count < most && *out <= 0x10ffff && hex_value(peek(t, 0)) >= 0; count++, t->at++)
        *out = *out * 16 + (uint32_t)hex_value(peek(t, 0));
    return count;
}

static bool read_hex(translation *t, size_t digits, uint32_t *out)
{
    return read_digits(t, digits, out) == digits || fail(t, "a hexadecimal escape is cut short");
}

static bool read_braced_hex(translation *t, uint32_t *out)
{
    size_t digits = read_digits(t, SIZE_MAX, out);

    if (*out > 0x10ffff)
        return fail(t, "\\u{...} names no character");
    return (digits > 0 && skip(t, "}")) || fail(t, "\\u{...} is not closed");
}

/* After "\u": four digits, perhaps a pair of surrogates, or braces. */
static bool read_unicode(translation *t, uint32_t *out)
{
    uint32_t low = 0;

    if (!(skip(t, "{") ? read_braced_hex(t, out) : read_hex(t, 4, out)))
        return false;
    if (*out >= 0xd800 && *out < 0xdc00 && skip(t, "\\u")) {
        if (!read_hex(t, 4, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000)
            *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    }
    return *out < 0xd800 || *out >= 0xe000 || fail(t, "a lone surrogate never matches");
}

/* After a backslash: an escape that is one character. */
static bool read_character_escape(translation *t, uint32_t *out)
{
    static const char plain[] = "0tnvfr";
    static const char codes[] = "\0\t\n\v\f\r";
    int c = peek(t, 0);
    int next = peek(t, 1);
    const char *found = c > 0 ? strchr(plain, c) : NULL;

    if (c < 0)
        return fail(t, "it ends in a backslash");
    if (c == 0 || c >= 128 || c == '_' ||
        ((is_letter(c) || is_digit(c)) && !found && !strchr("cxu", c)))
        return fail(t, "an escape is not one of ECMA-262");
    t->at++;
    if (c == 'x')
        return read_hex(t, 2, out);
    if (c == 'u')
        return read_unicode(t, out);
    if (c == '0' && is_digit(next))
        return fail(t, "octal escapes are not allowed");
    if (c == 'c' && !is_letter(next))
        return fail(t, "\\c needs a letter");
    if (c == 'c')
        t->at++;
    *out = c == 'c' ? (uint32_t)next & 31 : (uint32_t)(found ? codes[found - plain] : c);
    return true;
}

static void emit_property(translation *t, char kind, const char *name, size_t length)
{
    static const char *const prefixes[][2] = {
        { "General_Category=", "" },      { "gc=", "" },     { "Script=", "sc:" }, { "sc=", "sc:" },
        { "Script_Extensions=", "scx:" }, { "scx=", "scx:" }
    };
    const char *property = "";

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t skipped = strlen(prefixes[i][0]);
        if (length <= skipped || memcmp(name, prefixes[i][0], skipped) != 0)
            continue;
        property = prefixes[i][1];
        name += skipped;
        length -= skipped;
        break;
    }
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++) {
        if (strlen(categories[i].name) == length && memcmp(categories[i].name, name, length) == 0) {
            name = categories[i].code;
            length = strlen(name);
            break;
        }
    }
    mcp_buf_printf(&t->out, "\\%c{%s%.*s}", kind, property, (int)length, name);
}

/* At "\p" or "\P". */
static bool translate_property(translation *t)
{
    char kind = t->text[t->at + 1];

    t->at += 2;
    if (!skip(t, "{"))
        return fail(t, "\\p needs braces");
    size_t begin = t->at;
    while (is_letter(peek(t, 0)) || is_digit(peek(t, 0)) || peek(t, 0) == '_' || peek(t, 0) == '=')
        t->at++;
    size_t length = t->at - begin;
    if (length == 0 || length > 64 || !skip(t, "}"))
        return fail(t, "\\p{...} names no property");
    emit_property(t, kind, t->text + begin, length);
    return true;
}

/* At a backslash: the escapes that stand for a set of characters. False: it is none of them. */
static bool translate_set_escape(translation *t, bool in_class)
{
    int c = peek(t, 1);

    switch (c) {
    case 'd':
    case 'D':
    case 'w':
    case 'W':
        mcp_buf_printf(&t->out, "\\%c", c);
        break;
    case 's':
        mcp_buf_printf(&t->out, in_class ? "%s" : "[%s]", white_space);
        break;
    case 'S':
        mcp_buf_printf(&t->out, in_class ? "%s" : "[%s]", not_white_space);
        break;
    case 'p':
    case 'P':
        translate_property(t);
        return true;
    default:
        return false;
    }
    t->at += 2;
    return true;
}

/* ---- classes -------------------------------------------------------------------------------- */

/* One member of a class: a set is written at once, a character is handed back. False: a set, or
 * a fault. */
static bool read_class_character(translation *t, uint32_t *out)
{
    if (peek(t, 0) != '\\') {
        t->at += mcp__utf8_next(t->text + t->at, t->length - t->at, out);
        return true;
    }
    if (translate_set_escape(t, true))
        return false;
    t->at++;
    if (skip(t, "b")) {
        *out = '\b';
        return true;
    }
    return read_character_escape(t, out);
}

/* A member and, where a '-' and another member follow, the range. A set cannot bound a range:
 * there the '-' is literal, as in [\w-.], which is an error under the `u` flag but too common to
 * refuse. */
static void translate_class_member(translation *t)
{
    uint32_t first = 0;
    uint32_t last = 0;
    bool is_single = read_class_character(t, &first);
    bool is_range = is_single && peek(t, 0) == '-' && peek(t, 1) >= 0 && peek(t, 1) != ']';

    if (is_single)
        emit_character(t, first);
    if (!is_range || t->fault)
        return;
    t->at++;
    if (!read_class_character(t, &last)) {
        emit_character(t, '-');
        return;
    }
    if (last < first)
        fail(t, "a range runs backwards");
    mcp_buf_putc(&t->out, '-');
    emit_character(t, last);
}

/* At "[". */
static void translate_class(translation *t)
{
    t->at++;
    mcp_buf_puts(&t->out, skip(t, "^") ? "[^" : "[");
    while (!t->fault && peek(t, 0) >= 0 && peek(t, 0) != ']')
        translate_class_member(t);
    if (!skip(t, "]"))
        fail(t, "a class is not closed");
    mcp_buf_putc(&t->out, ']');
}

/* ---- outside classes ------------------------------------------------------------------------ */

/* The name of a group, after "<": it goes over as it is. */
static void translate_name(translation *t, const char *opening)
{
    const char *from = t->text + t->at;
    const char *end = memchr(from, '>', t->length - t->at);

    if (!end || end == from || end - from > 32) {
        fail(t, "the name of a group is empty, too long or not closed");
        return;
    }
    mcp_buf_puts(&t->out, opening);
    mcp_buf_append(&t->out, from, (size_t)(end - from) + 1);
    t->at += (size_t)(end - from) + 1;
}

/* At a backslash and a digit from 1 to 9. */
static void translate_number_reference(translation *t)
{
    unsigned number = 0;

    for (t->at++; is_digit(peek(t, 0)) && number < 1000; t->at++)
        number = number * 10 + (unsigned)(peek(t, 0) - '0');
    mcp_buf_printf(&t->out, "\\g{%u}", number);
}

static void translate_escape(translation *t)
{
    int c = peek(t, 1);
    uint32_t character = 0;

    if (c == 'b' || c == 'B') {
        t->at += 2;
        mcp_buf_printf(&t->out, "\\%c", c);
    } else if (skip(t, "\\k<")) {
        translate_name(t, "\\k<");
    } else if (c == 'k') {
        fail(t, "\\k needs a name");
    } else if (is_digit(c) && c != '0') {
        translate_number_reference(t);
    } else if (!translate_set_escape(t, false)) {
        t->at++;
        if (read_character_escape(t, &character))
            emit_character(t, character);
    }
}

/* At "(": which kind of group. */
static void translate_group(translation *t)
{
    static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!" };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (skip(t, kinds[i])) {
            mcp_buf_puts(&t->out, kinds[i]);
            return;
        }
    }
    if (skip(t, "(?<")) {
        translate_name(t, "(?<");
        return;
    }
    t->at++;
    if (peek(t, 0) == '?' || peek(t, 0) == '*' || peek(t, 0) == '+')
        fail(t, "a group begins with a quantifier");
    mcp_buf_putc(&t->out, '(');
}

/* How long the {n}, {n,} or {n,m} here is; 0 when the brace is literal. */
static size_t counted_length(const translation *t)
{
    size_t i = 1;

    while (is_digit(peek(t, i)))
        i++;
    if (i == 1)
        return 0;
    if (peek(t, i) == ',')
        i++;
    while (is_digit(peek(t, i)))
        i++;
    return peek(t, i) == '}' ? i + 1 : 0;
}

/* A quantifier may be lazy; PCRE2's possessive ones do not exist here. */
static void translate_quantifier(translation *t, size_t length)
{
    mcp_buf_append(&t->out, t->text + t->at, length);
    t->at += length;
    if (skip(t, "?"))
        mcp_buf_putc(&t->out, '?');
    int c = peek(t, 0);
    if (c == '*' || c == '+' || c == '?')
        fail(t, "a quantifier follows a quantifier");
}

static void translate_next(translation *t)
{
    uint32_t character = 0;

    switch (peek(t, 0)) {
    case '\\':
        translate_escape(t);
        break;
    case '[':
        translate_class(t);
        break;
    case '(':
        translate_group(t);
        break;
    case '*':
    case '+':
    case '?':
        translate_quantifier(t, 1);
        break;
    case '{':
        if (counted_length(t) > 0)
            translate_quantifier(t, counted_length(t));
        else
            emit_character(t, (unsigned char)t->text[t->at++]);
        break;
    case '.': /* all but the four line terminators of ECMA-262 */
        t->at++;
        mcp_buf_puts(&t->out, "[^\\n\\r\\x{2028}\\x{2029}]");
        break;
    case ')':
    case '|':
    case '^':
    case '$':
        mcp_buf_putc(&t->out, t->text[t->at++]);
        break;
    default:
        t->at += mcp__utf8_next(t->text + t->at, t->length - t->at, &character);
        emit_character(t, character);
    }
}

static mcp_status translate(translation *t, mcp_error *err)
{
    mcp_buf_init(&t->out, TRANSLATED_MAX);
    if (t->length > PATTERN_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a pattern of %zu bytes is longer than %d",
                             t->length, PATTERN_MAX);
    if (!mcp__utf8_valid(t->text, t->length, NULL))
        return mcp_error_set(err, MCP_E_SCHEMA, "the pattern is not UTF-8");
    while (!t->fault && t->at < t->length)
        translate_next(t);
    if (t->fault)
        return mcp_error_set(err, MCP_E_SCHEMA,
                             "the pattern is no regular expression: %s (byte %zu)", t->fault,
                             t->at);
    if (t->out.status != MCP_OK)
        return mcp_error_set(err, t->out.status,
                             t->out.status == MCP_E_NOMEM ? "no memory for the pattern"
                                                          : "the pattern is too large");
    return MCP_OK;
}

/* ---- compiling and matching ----------------------------------------------------------------- */

static mcp_status code_of(pcre2_code **out, const char *text, size_t length, mcp_error *err)
{
    translation t = { .text = text, .length = length };
    int number = 0;
    PCRE2_SIZE offset = 0;
    PCRE2_UCHAR words[120];
    pcre2_compile_context *context = NULL;
    pcre2_code *code = NULL;
    mcp_status st = translate(&t, err);

    if (st != MCP_OK)
        goto out;
    context = pcre2_compile_context_create(NULL);
    if (context) {
        pcre2_set_parens_nest_limit(context, NESTING_MAX);
        code = pcre2_compile(t.out.length ? (PCRE2_SPTR)t.out.data : (PCRE2_SPTR) "", t.out.length,
                             PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS |
                                 PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_BACKSLASH_C |
                                 PCRE2_NO_UTF_CHECK | PCRE2_AUTO_CALLOUT,
                             &number, &offset, context);
    }
    if (!context || (!code && number == PCRE2_ERROR_HEAP_FAILED)) {
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a pattern");
    } else if (!code) {
        pcre2_get_error_message(number, words, sizeof words);
        st = mcp_error_set(err, MCP_E_SCHEMA, "the pattern is no regular expression: %s", words);
    } else {
        *out = code;
    }
out:
    pcre2_compile_context_free(context);
    mcp_buf_clear(&t.out);
    return st;
}

mcp_status mcp__pattern_compile(mcp__pattern **list, mcp_arena *arena, const char *text,
                                size_t length, mcp_error *err)
{
    mcp__pattern *pattern = mcp_arena_alloc(arena, sizeof *pattern);

    if (!pattern)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a pattern");
    mcp_status st = code_of(&pattern->code, text, length, err);
    if (st != MCP_OK)
        return st;
    pattern->next = *list;
    *list = pattern;
    return MCP_OK;
}

bool mcp__pattern_is_valid(const char *text, size_t length)
{
    pcre2_code *code = NULL;
    mcp_status st = code_of(&code, text, length, NULL);

    pcre2_code_free(code);
    return st == MCP_OK;
}

void mcp__pattern_free_all(mcp__pattern *list)
{
    for (; list; list = list->next)
        pcre2_code_free(list->code);
}

/* Before each item of the expression: what was done since the last call-out is paid for. */
static int pay(pcre2_callout_block *block, void *data)
{
    mcp__matcher *matcher = data;
    size_t here = block->current_position;
    size_t distance = here > matcher->position ? here - matcher->position
                                               : matcher->position - here;
    uint64_t cost = 1 + distance / BYTES_A_STEP;

    matcher->position = here;
    if (matcher->steps_left < cost)
        return PCRE2_ERROR_CALLOUT;
    matcher->steps_left -= cost;
    return 0;
}

static bool matcher_ready(mcp__matcher *matcher)
{
    if (!matcher->data)
        matcher->data = pcre2_match_data_create(1, NULL);
    if (!matcher->context) {
        matcher->context = pcre2_match_context_create(NULL);
        if (matcher->context) {
            pcre2_set_match_limit(matcher->context, MATCH_LIMIT);
            pcre2_set_heap_limit(matcher->context, HEAP_LIMIT_KIB);
        }
    }
    return matcher->data && matcher->context;
}

mcp_status mcp__pattern_match(bool *out, const mcp__pattern *pattern, mcp__matcher *matcher,
                              const char *text, size_t length, uint64_t *steps_left, mcp_error *err)
{
    uint64_t scan = 1 + length / BYTES_A_STEP;

    if (!matcher_ready(matcher))
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to match a pattern");
    if (*steps_left < scan)
        return mcp_error_set(err, MCP_E_LIMIT, "matching a pattern takes too much work");
    matcher->steps_left = *steps_left - scan;
    matcher->position = 0;
    pcre2_set_callout(matcher->context, pay, matcher);
    int result = pcre2_match(pattern->code, (PCRE2_SPTR)text, length, 0, PCRE2_NO_UTF_CHECK,
                             matcher->data, matcher->context);
    *steps_left = matcher->steps_left;
    if (result == PCRE2_ERROR_NOMEMORY)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to match a pattern");
    if (result < 0 && result != PCRE2_ERROR_NOMATCH)
        return mcp_error_set(err, MCP_E_LIMIT, "matching a pattern takes too much work");
    *out = result >= 0;
    return MCP_OK;
}

void mcp__matcher_clear(mcp__matcher *matcher)
{
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->context);
    *matcher = (mcp__matcher){ 0 };
}

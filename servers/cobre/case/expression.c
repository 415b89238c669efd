/*
 * expression.c - reads the expressions of generic constraints, one term after another.
 *
 * A cursor moves over the text once. The first problem ends the reading; the error has its place.
 */
#include "case/expression.h"

#include <stdlib.h>
#include <string.h>

#include "case/fields.h"

static const struct variable {
    const char *name;
    cobre_registry registry;
    bool takes_block;
    /* clang-format off */
} variables[COBRE_VAR_COUNT] = {
    [COBRE_VAR_HYDRO_STORAGE] = { "hydro_storage", COBRE_HYDROS, false },
    [COBRE_VAR_HYDRO_EVAPORATION] = { "hydro_evaporation", COBRE_HYDROS, false },
    [COBRE_VAR_HYDRO_WITHDRAWAL] = { "hydro_withdrawal", COBRE_HYDROS, false },
    [COBRE_VAR_HYDRO_TURBINED] = { "hydro_turbined", COBRE_HYDROS, true },
    [COBRE_VAR_HYDRO_SPILLAGE] = { "hydro_spillage", COBRE_HYDROS, true },
    [COBRE_VAR_HYDRO_DIVERSION] = { "hydro_diversion", COBRE_HYDROS, true },
    [COBRE_VAR_HYDRO_OUTFLOW] = { "hydro_outflow", COBRE_HYDROS, true },
    [COBRE_VAR_HYDRO_GENERATION] = { "hydro_generation", COBRE_HYDROS, true },
    [COBRE_VAR_THERMAL_GENERATION] = { "thermal_generation", COBRE_THERMALS, true },
    [COBRE_VAR_LINE_DIRECT] = { "line_direct", COBRE_LINES, true },
    [COBRE_VAR_LINE_REVERSE] = { "line_reverse", COBRE_LINES, true },
    [COBRE_VAR_LINE_EXCHANGE] = { "line_exchange", COBRE_LINES, true },
    [COBRE_VAR_BUS_DEFICIT] = { "bus_deficit", COBRE_BUSES, true },
    [COBRE_VAR_BUS_EXCESS] = { "bus_excess", COBRE_BUSES, true },
    [COBRE_VAR_PUMPING_FLOW] = { "pumping_flow", COBRE_STATIONS, true },
    [COBRE_VAR_PUMPING_POWER] = { "pumping_power", COBRE_STATIONS, true },
    [COBRE_VAR_CONTRACT_IMPORT] = { "contract_import", COBRE_CONTRACTS, true },
    [COBRE_VAR_CONTRACT_EXPORT] = { "contract_export", COBRE_CONTRACTS, true },
    [COBRE_VAR_SOURCE_GENERATION] = { "non_controllable_generation", COBRE_SOURCES, true },
    [COBRE_VAR_SOURCE_CURTAILMENT] = { "non_controllable_curtailment", COBRE_SOURCES, true },
};
/* clang-format on */

const char *cobre_variable_name(cobre_variable variable)
{
    return variables[variable].name;
}

cobre_registry cobre_variable_registry(cobre_variable variable)
{
    return variables[variable].registry;
}

bool cobre_variable_takes_block(cobre_variable variable)
{
    return variables[variable].takes_block;
}

/* ---- the cursor ------------------------------------------------------------------------------ */

struct text {
    const char *begin, *at;
    mcp_error *err;
};

static mcp_status refuse(const struct text *text, const char *expected)
{
    size_t left = strlen(text->at);

    if (left == 0)
        return mcp_error_at(text->err, MCP_E_PARSE, text->at - text->begin,
                            "expected %s, but the text ends", expected);
    return mcp_error_at(text->err, MCP_E_PARSE, text->at - text->begin,
                        "expected %s at byte %zu, found '%.20s'", expected,
                        (size_t)(text->at - text->begin), text->at);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c);
}

static void skip_space(struct text *text)
{
    while (*text->at == ' ' || *text->at == '\t' || *text->at == '\r' || *text->at == '\n')
        text->at++;
}

/* Whether the next sign is `c`; it is passed. */
static bool take(struct text *text, char c)
{
    skip_space(text);
    if (*text->at != c)
        return false;
    text->at++;
    return true;
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* The end of a number of digits, a point and an exponent; `at` where there is none. */
static const char *number_end(const char *at)
{
    const char *whole = skip_digits(at), *end = whole;

    if (*end == '.')
        end = skip_digits(end + 1);
    if (end == at || (end == at + 1 && *at == '.'))
        return at;
    if (*end != 'e' && *end != 'E')
        return end;
    const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
    return is_digit(*exponent) ? skip_digits(exponent) : end;
}

static mcp_status read_number(struct text *text, double *out)
{
    const char *end = number_end(text->at);

    if (end == text->at)
        return refuse(text, "a number");
    *out = strtod(text->at, NULL);
    if (!isfinite(*out))
        return refuse(text, "a finite number");
    if (*out > COBRE_NUMBER_MAX)
        return refuse(text, "a number up to 1e20");
    text->at = end;
    return MCP_OK;
}

static mcp_status read_id(struct text *text, int64_t *out)
{
    int64_t value = 0;

    skip_space(text);
    const char *end = skip_digits(text->at);
    if (end == text->at)
        return refuse(text, "an integer >= 0");
    for (const char *at = text->at; at < end; at++) {
        value = value * 10 + (*at - '0');
        if (value > INT32_MAX)
            return refuse(text, "an integer of 32 bits");
    }
    text->at = end;
    *out = value;
    return MCP_OK;
}

/* ---- terms ----------------------------------------------------------------------------------- */

static mcp_status read_variable(struct text *text, cobre_raw_term *term)
{
    size_t length = 0;

    skip_space(text);
    while (is_name(text->at[length]))
        length++;
    if (length == 0 || is_digit(text->at[0]))
        return refuse(text, "a variable");
    for (size_t i = 0; i < COBRE_VAR_COUNT; i++) {
        if (strlen(variables[i].name) == length &&
            memcmp(variables[i].name, text->at, length) == 0) {
            term->variable = (cobre_variable)i;
            text->at += length;
            return MCP_OK;
        }
    }
    return mcp_error_at(text->err, MCP_E_PARSE, text->at - text->begin, "unknown variable '%.*s'",
                        (int)(length < 60 ? length : 60), text->at);
}

static mcp_status read_arguments(struct text *text, cobre_raw_term *term)
{
    mcp_status st = take(text, '(') ? read_id(text, &term->id) : refuse(text, "(");

    term->block = COBRE_ABSENT;
    if (st == MCP_OK && take(text, ',')) {
        if (!variables[term->variable].takes_block)
            return mcp_error_at(text->err, MCP_E_PARSE, text->at - text->begin, "%s takes no block",
                                variables[term->variable].name);
        st = read_id(text, &term->block);
    }
    if (st == MCP_OK && !take(text, ')'))
        st = refuse(text, term->block == COBRE_ABSENT ? "a comma or )" : ")");
    return st;
}

static mcp_status read_term(struct text *text, double sign, cobre_raw_term *term)
{
    double factor = 1;
    mcp_status st = MCP_OK;

    skip_space(text);
    if (is_digit(*text->at) || *text->at == '.') {
        st = read_number(text, &factor);
        if (st == MCP_OK && !take(text, '*'))
            st = refuse(text, "* and a variable after the number");
    }
    if (st == MCP_OK)
        st = read_variable(text, term);
    if (st == MCP_OK)
        st = read_arguments(text, term);
    term->coefficient = sign * factor;
    return st;
}

/* An upper limit of the number of terms: each has one opening bracket. */
static size_t count_brackets(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += *text == '(';
    return count;
}

mcp_status cobre_expression_read(cobre_raw_term **terms, size_t *count, mcp_arena *arena,
                                 const char *text, mcp_error *err)
{
    struct text cursor = { text, text, err };
    size_t room = count_brackets(text) + 1, used = 0;
    mcp_status st = MCP_OK;

    if (strlen(text) > COBRE_EXPRESSION_MAX || room > COBRE_TERMS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "an expression has at most %d bytes and %d terms",
                             COBRE_EXPRESSION_MAX, COBRE_TERMS_MAX);
    cobre_raw_term *list = mcp_arena_array(arena, room, sizeof *list);
    if (!list)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for an expression");
    double sign = take(&cursor, '-') ? -1 : 1;
    if (sign > 0)
        take(&cursor, '+');
    for (bool more = true; st == MCP_OK && more;) {
        st = read_term(&cursor, sign, &list[used]);
        used += st == MCP_OK;
        more = take(&cursor, '+');
        sign = 1;
        if (!more && take(&cursor, '-')) {
            more = true;
            sign = -1;
        }
    }
    if (st == MCP_OK && *cursor.at)
        st = refuse(&cursor, "+, - or the end");
    if (st != MCP_OK)
        return st;
    *terms = list;
    *count = used;
    return MCP_OK;
}

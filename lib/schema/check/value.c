/*
 * value.c - the keywords that look at one value alone: type, const, enum, numbers, strings.
 */
#include "base/utf8.h"
#include "schema/check/check.h"

/* The steps of writing a double as a decimal. */
enum { DECIMAL = 4 };

static unsigned type_bits(const mcp_json *value)
{
    static const unsigned bits[] = {
        [MCP_JSON_NULL] = MCP__NULL,     [MCP_JSON_BOOL] = MCP__BOOLEAN,
        [MCP_JSON_INT] = MCP__NUMBER,    [MCP_JSON_UINT] = MCP__NUMBER,
        [MCP_JSON_DOUBLE] = MCP__NUMBER, [MCP_JSON_STRING] = MCP__STRING,
        [MCP_JSON_ARRAY] = MCP__ARRAY,   [MCP_JSON_OBJECT] = MCP__OBJECT,
    };
    unsigned type = bits[mcp_json_type_of(value)];

    return type == MCP__NUMBER && mcp__number_is_whole(value) ? type | MCP__INTEGER : type;
}

MCP__KEYWORD(type)
{
    return (rule->as.types & type_bits(value)) || mcp__check_refuse(check, rule, value, NULL);
}

/* ---- const, enum ---------------------------------------------------------------------------- */

/* The hashes of what a value is compared with are there already. */

MCP__KEYWORD(const)
{
    uint64_t hash;

    if (!mcp__check_hash(&hash, check, value))
        return false;
    if (rule->as.hashes[0] == hash && mcp_json_equal(rule->value, value))
        return true;
    return mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(enum)
{
    size_t count = mcp_json_count(rule->value);
    uint64_t hash;

    if (!mcp__check_hash(&hash, check, value) || !mcp__check_step(check, count / 8))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (rule->as.hashes[i] == hash && mcp_json_equal(mcp_json_item(rule->value, i), value))
            return true;
    }
    return mcp__check_refuse(check, rule, value, NULL);
}

/* ---- numbers -------------------------------------------------------------------------------- */

MCP__KEYWORD(maximum)
{
    return mcp__number_compare(value, rule->value) <= 0 ||
           mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(exclusive_maximum)
{
    return mcp__number_compare(value, rule->value) < 0 ||
           mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(minimum)
{
    return mcp__number_compare(value, rule->value) >= 0 ||
           mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(exclusive_minimum)
{
    return mcp__number_compare(value, rule->value) > 0 ||
           mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(multiple_of)
{
    if (!mcp__check_step(check, DECIMAL))
        return false;
    return mcp__decimal_divides(rule->as.divisor, mcp__number_decimal(value)) ||
           mcp__check_refuse(check, rule, value, NULL);
}

/* ---- strings -------------------------------------------------------------------------------- */

/* In characters, not bytes (Validation 6.3.1). */
static bool length_of(size_t *out, mcp__check *check, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    *out = mcp__utf8_length(text, length);
    return mcp__check_step(check, length / MCP__BYTES_A_STEP);
}

MCP__KEYWORD(max_length)
{
    mcp__details details = { 0 };

    if (!length_of(&details.first, check, value))
        return false;
    return details.first <= rule->as.count || mcp__check_refuse(check, rule, value, &details);
}

MCP__KEYWORD(min_length)
{
    mcp__details details = { 0 };

    if (!length_of(&details.first, check, value))
        return false;
    return details.first >= rule->as.count || mcp__check_refuse(check, rule, value, &details);
}

MCP__KEYWORD(pattern)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    return mcp__check_matches(check, rule->as.patterns[0], text, length) ||
           mcp__check_refuse(check, rule, value, NULL);
}

MCP__KEYWORD(format)
{
    const mcp__format *format = rule->as.format;
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (!format)
        return true;
    if (!mcp__check_step(check, format->steps + length / MCP__BYTES_A_STEP))
        return false;
    return format->accepts(text, length) || mcp__check_refuse(check, rule, value, NULL);
}

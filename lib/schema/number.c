/*
 * number.c - divisibility of JSON numbers and hashing of JSON values, exactly.
 */
#include "schema/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "json/json_int.h"

bool mcp__number_is_whole(const mcp_json *value)
{
    double number;

    if (mcp_json_type_of(value) != MCP_JSON_DOUBLE)
        return mcp_json_is_number(value);
    return mcp_json_double(value, &number) && trunc(number) == number;
}

bool mcp__number_is_count(const mcp_json *value, uint64_t *out)
{
    mcp__json_whole number;

    if (!mcp__json_is_whole(value, &number) || number < 0)
        return false;
    *out = (uint64_t)number;
    return true;
}

static mcp__decimal shortened(uint64_t digits, int exponent)
{
    if (digits == 0)
        return (mcp__decimal){ 0, 0 };
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    return (mcp__decimal){ digits, exponent };
}

/* Reads the JSON text of a double: digits, perhaps a fraction, perhaps an exponent. */
static mcp__decimal decimal_of_text(const char *text)
{
    uint64_t digits = 0;
    int exponent = 0;
    bool in_fraction = false;

    for (; *text && *text != 'e'; text++) {
        in_fraction = in_fraction || *text == '.';
        if (*text < '0' || *text > '9')
            continue;
        digits = digits * 10 + (uint64_t)(*text - '0');
        exponent -= in_fraction ? 1 : 0;
    }
    if (*text)
        exponent += (int)strtol(text + 1, NULL, 10);
    return shortened(digits, exponent);
}

mcp__decimal mcp__number_decimal(const mcp_json *value)
{
    mcp__json_whole number = 0;
    double wide = 0;
    char text[MCP__JSON_DOUBLE_SIZE + 1];

    if (mcp_json_type_of(value) != MCP_JSON_DOUBLE && mcp__json_is_whole(value, &number))
        return shortened((uint64_t)(number < 0 ? -number : number), 0);
    mcp_json_double(value, &wide);
    text[mcp__json_format_double(text, wide)] = '\0';
    return decimal_of_text(text);
}

__extension__ typedef unsigned __int128 wide_int;

static uint64_t power_of_ten(unsigned exponent, uint64_t modulus)
{
    wide_int result = 1 % modulus;
    wide_int base = 10 % modulus;

    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = result * base % modulus;
        base = base * base % modulus;
    }
    return (uint64_t)result;
}

bool mcp__decimal_divides(mcp__decimal b, mcp__decimal a)
{
    if (a.digits == 0)
        return true;
    if (a.exponent < b.exponent)
        return false; /* a's last digit, which is not 0, is right of b's */
    uint64_t power = power_of_ten((unsigned)(a.exponent - b.exponent), b.digits);
    return (wide_int)(a.digits % b.digits) * power % b.digits == 0;
}

/* Tags that keep "1", 1, [1] and {"1":...} apart. */
enum { TAG_NUMBER = 1, TAG_STRING, TAG_ARRAY, TAG_OBJECT, TAG_MEMBER, TAG_OTHER };

/* The process's keyed hash over a tag and two numbers: nobody outside can choose what collides. */
static uint64_t hash_pair(uint64_t tag, uint64_t a, uint64_t b)
{
    uint64_t words[3] = { tag, a, b };

    return mcp__map_hash((const char *)words, sizeof words);
}

/* 1 and 1.0 are equal, so a double that is a whole number of 64 bits hashes as one. */
static uint64_t hash_number(const mcp_json *value)
{
    mcp__json_whole number;
    double wide = 0;
    uint64_t bits;

    if (mcp__json_is_whole(value, &number))
        return hash_pair(TAG_NUMBER, (uint64_t)number, number < 0);
    mcp_json_double(value, &wide);
    memcpy(&bits, &wide, sizeof bits);
    return hash_pair(TAG_NUMBER, bits, 2);
}

/* Stays at 0 once it is there. */
static void pay(uint64_t *steps_left, size_t length)
{
    uint64_t cost = 1 + length / MCP__BYTES_A_STEP;

    *steps_left -= cost < *steps_left ? cost : *steps_left;
}

/* Members count in any order, so their hashes are added; of two with one name the last counts. */
static uint64_t hash_object(const mcp_json *value, uint64_t *steps_left)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < mcp_json_count(value) && *steps_left > 0; i++) {
        size_t length;
        const char *name = mcp_json_name(value, i, &length);
        const mcp_json *member = mcp_json_item(value, i);
        pay(steps_left, length);
        if (mcp_json_get_n(value, name, length) == member)
            sum += hash_pair(TAG_MEMBER, mcp__map_hash(name, length),
                             mcp__value_hash(member, steps_left));
    }
    return hash_pair(TAG_OBJECT, sum, 0);
}

static uint64_t hash_array(const mcp_json *value, uint64_t *steps_left)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < mcp_json_count(value) && *steps_left > 0; i++)
        hash = hash_pair(TAG_ARRAY, hash, mcp__value_hash(mcp_json_item(value, i), steps_left));
    return hash_pair(TAG_ARRAY, hash, 1);
}

uint64_t mcp__value_hash(const mcp_json *value, uint64_t *steps_left)
{
    size_t length = 0;
    bool flag = false;
    const char *text = mcp_json_string(value, &length);

    pay(steps_left, length);
    if (text)
        return hash_pair(TAG_STRING, mcp__map_hash(text, length), 0);
    if (mcp_json_is_number(value))
        return hash_number(value);
    if (mcp_json_is_object(value))
        return hash_object(value, steps_left);
    if (mcp_json_is_array(value))
        return hash_array(value, steps_left);
    return hash_pair(TAG_OTHER, mcp_json_bool(value, &flag) ? 1 + flag : 0, 0);
}

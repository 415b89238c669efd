/*
 * number.c - order, divisibility and hashing of JSON numbers and values, exactly.
 *
 * A double that is compared with an integer is never rounded: outside the integers' range the
 * answer is clear, inside it the double's whole part is an exact integer, and its fraction
 * decides a tie.
 */
#include "schema/number.h"

#include <math.h>
#include <string.h>

#include "base/map.h"
#include "json/json_int.h"

/* The exact whole numbers that 64 bits hold, of either sign. */
typedef struct whole {
    bool is_negative;
    uint64_t size; /* the absolute value */
} whole;

static whole whole_of_int(int64_t number)
{
    return (whole){ number < 0, number < 0 ? -(uint64_t)number : (uint64_t)number };
}

static bool whole_of(const mcp_json *value, whole *out)
{
    int64_t number;
    uint64_t large;

    if (mcp_json_int(value, &number)) {
        *out = whole_of_int(number);
        return true;
    }
    if (mcp_json_uint(value, &large)) {
        *out = (whole){ false, large };
        return true;
    }
    return false;
}

static int sign(bool is_negative)
{
    return is_negative ? -1 : 1;
}

static int compare_wholes(whole a, whole b)
{
    if (a.is_negative != b.is_negative)
        return sign(a.is_negative);
    if (a.size == b.size)
        return 0;
    return (a.size > b.size) == a.is_negative ? -1 : 1;
}

static int compare_whole_to_double(whole a, double b)
{
    double size = trunc(fabs(b));

    if (size >= 0x1p64)
        return -sign(b < 0);
    int order = compare_wholes(a, (whole){ b < 0 && size > 0, (uint64_t)size });
    if (order != 0 || size == fabs(b))
        return order;
    return b > 0 ? -1 : 1; /* equal but for b's fraction, which leads away from 0 */
}

int mcp__number_compare(const mcp_json *a, const mcp_json *b)
{
    whole left;
    whole right;
    double x = 0;
    double y = 0;
    bool a_is_whole = whole_of(a, &left);
    bool b_is_whole = whole_of(b, &right);

    if (a_is_whole && b_is_whole)
        return compare_wholes(left, right);
    mcp_json_double(a, &x);
    mcp_json_double(b, &y);
    if (a_is_whole)
        return compare_whole_to_double(left, y);
    if (b_is_whole)
        return -compare_whole_to_double(right, x);
    return (x > y) - (x < y);
}

bool mcp__number_is_whole(const mcp_json *value)
{
    double number;

    if (mcp_json_type_of(value) != MCP_JSON_DOUBLE)
        return mcp_json_is_number(value);
    return mcp_json_double(value, &number) && trunc(number) == number;
}

bool mcp__number_is_count(const mcp_json *value, uint64_t *out)
{
    whole number;
    double wide;

    if (whole_of(value, &number)) {
        if (number.is_negative)
            return false;
        *out = number.size;
        return true;
    }
    if (!mcp_json_double(value, &wide) || wide < 0 || wide >= 0x1p64 || trunc(wide) != wide)
        return false;
    *out = (uint64_t)wide;
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
static mcp__decimal decimal_of_text(const char *text, size_t length)
{
    uint64_t digits = 0;
    int places = 0;
    int power = 0;
    bool in_fraction = false;
    size_t i = 0;

    for (; i < length && text[i] != 'e'; i++) {
        in_fraction = in_fraction || text[i] == '.';
        if (text[i] < '0' || text[i] > '9')
            continue;
        digits = digits * 10 + (uint64_t)(text[i] - '0');
        places += in_fraction ? 1 : 0;
    }
    bool is_negative = i + 1 < length && text[i + 1] == '-';
    for (; i < length; i++)
        power = text[i] >= '0' && text[i] <= '9' ? power * 10 + (text[i] - '0') : power;
    return shortened(digits, (is_negative ? -power : power) - places);
}

mcp__decimal mcp__number_decimal(const mcp_json *value)
{
    whole number;
    double wide = 0;
    char text[MCP__JSON_DOUBLE_SIZE];

    if (whole_of(value, &number))
        return shortened(number.size, 0);
    mcp_json_double(value, &wide);
    return decimal_of_text(text, mcp__json_format_double(text, wide));
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
    whole number;
    double wide = 0;
    uint64_t bits;

    if (whole_of(value, &number))
        return hash_pair(TAG_NUMBER, number.size, number.is_negative);
    mcp_json_double(value, &wide);
    if (trunc(wide) == wide && fabs(wide) < 0x1p64)
        return hash_pair(TAG_NUMBER, (uint64_t)fabs(wide), wide < 0);
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

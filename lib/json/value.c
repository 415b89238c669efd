/*
 * value.c - asking a JSON value that was read.
 *
 * Every accessor takes NULL as "absent", so look-ups chain. Comparing numbers is exact: an integer
 * equals a double only if the double is that integer, never because rounding made it so.
 *
 * Where a name occurs twice the last one counts. Equality looks at the members that count and at
 * each of them once, so that nested duplicates cannot make it compare the same pair again and
 * again.
 */
#include "json/json_int.h"

#include <math.h>
#include <string.h>

#include "base/map.h"

/* ---- objects --------------------------------------------------------------------------------- */

/* How many slots the index of an object of `count` members has. */
static size_t slots_of(size_t count)
{
    size_t slots = 64;

    while (slots < count * 2)
        slots *= 2;
    return slots;
}

mcp__json_member *mcp__json_members_new(mcp_arena *arena, size_t count)
{
    size_t slots = count > MCP__JSON_INDEXED ? slots_of(count) : 0;

    return mcp_arena_alloc(arena, count * sizeof(mcp__json_member) + slots * sizeof(uint32_t));
}

static bool has_name(const mcp__json_member *member, const char *name, size_t length)
{
    return member->length == length && memcmp(member->name, name, length) == 0;
}

/* The slot that holds the name's member, or the free one where it would go. */
static size_t probe(const mcp__json_member *members, const uint32_t *index, size_t mask,
                    const char *name, size_t length)
{
    size_t at = (size_t)mcp__map_hash(name, length) & mask;

    while (index[at] != 0 && !has_name(&members[index[at] - 1], name, length))
        at = (at + 1) & mask;
    return at;
}

void mcp__json_members_index(mcp__json_member *members, size_t count)
{
    uint32_t *index = (uint32_t *)(void *)(members + count);
    size_t mask = slots_of(count) - 1;

    if (count <= MCP__JSON_INDEXED)
        return;
    for (size_t i = 0; i < count; i++)
        index[probe(members, index, mask, members[i].name, members[i].length)] = (uint32_t)i + 1;
}

size_t mcp__json_find(const mcp_json *object, const char *name, size_t length)
{
    const mcp__json_member *members = object->is.members;
    size_t count = object->count;

    if (count > MCP__JSON_INDEXED) {
        const uint32_t *index = (const uint32_t *)(const void *)(members + count);
        size_t at = probe(members, index, slots_of(count) - 1, name, length);
        return index[at] ? index[at] - 1 : count;
    }
    for (size_t i = count; i > 0; i--) {
        if (has_name(&members[i - 1], name, length))
            return i - 1;
    }
    return count;
}

const char *mcp_json_duplicate(const mcp_json *object)
{
    if (!mcp_json_is_object(object))
        return NULL;
    for (size_t i = 0; i < object->count; i++) {
        const mcp__json_member *member = &object->is.members[i];
        if (mcp__json_find(object, member->name, member->length) != i)
            return member->name;
    }
    return NULL;
}

const mcp_json *mcp_json_get_n(const mcp_json *object, const char *name, size_t length)
{
    if (!mcp_json_is_object(object) || !name)
        return NULL;
    size_t found = mcp__json_find(object, name, length);
    return found < object->count ? &object->is.members[found].value : NULL;
}

const mcp_json *mcp_json_get(const mcp_json *object, const char *name)
{
    return name ? mcp_json_get_n(object, name, strlen(name)) : NULL;
}

const char *mcp_json_get_string(const mcp_json *object, const char *name)
{
    return mcp_json_string(mcp_json_get(object, name), NULL);
}

/* ---- types ----------------------------------------------------------------------------------- */

mcp_json_type mcp_json_type_of(const mcp_json *value)
{
    return value ? (mcp_json_type)value->type : MCP_JSON_ABSENT;
}

const char *mcp_json_type_name(mcp_json_type type)
{
    static const char *const names[] = {
        [MCP_JSON_ABSENT] = "absent", [MCP_JSON_NULL] = "null",    [MCP_JSON_BOOL] = "boolean",
        [MCP_JSON_INT] = "integer",   [MCP_JSON_UINT] = "integer", [MCP_JSON_DOUBLE] = "number",
        [MCP_JSON_STRING] = "string", [MCP_JSON_ARRAY] = "array",  [MCP_JSON_OBJECT] = "object",
    };

    return (size_t)type < sizeof names / sizeof names[0] ? names[type] : "absent";
}

bool mcp_json_is_null(const mcp_json *value)
{
    return mcp_json_type_of(value) == MCP_JSON_NULL;
}

bool mcp_json_is_string(const mcp_json *value)
{
    return mcp_json_type_of(value) == MCP_JSON_STRING;
}

bool mcp_json_is_number(const mcp_json *value)
{
    mcp_json_type type = mcp_json_type_of(value);

    return type == MCP_JSON_INT || type == MCP_JSON_UINT || type == MCP_JSON_DOUBLE;
}

bool mcp_json_is_array(const mcp_json *value)
{
    return mcp_json_type_of(value) == MCP_JSON_ARRAY;
}

bool mcp_json_is_object(const mcp_json *value)
{
    return mcp_json_type_of(value) == MCP_JSON_OBJECT;
}

/* ---- scalars --------------------------------------------------------------------------------- */

bool mcp_json_bool(const mcp_json *value, bool *out)
{
    if (mcp_json_type_of(value) != MCP_JSON_BOOL)
        return false;
    *out = value->is.boolean;
    return true;
}

bool mcp_json_int(const mcp_json *value, int64_t *out)
{
    if (mcp_json_type_of(value) != MCP_JSON_INT)
        return false;
    *out = value->is.integer;
    return true;
}

bool mcp_json_uint(const mcp_json *value, uint64_t *out)
{
    mcp_json_type type = mcp_json_type_of(value);

    if (type != MCP_JSON_UINT && (type != MCP_JSON_INT || value->is.integer < 0))
        return false;
    *out = type == MCP_JSON_UINT ? value->is.natural : (uint64_t)value->is.integer;
    return true;
}

bool mcp_json_double(const mcp_json *value, double *out)
{
    switch (mcp_json_type_of(value)) {
    case MCP_JSON_INT:
        *out = (double)value->is.integer;
        return true;
    case MCP_JSON_UINT:
        *out = (double)value->is.natural;
        return true;
    case MCP_JSON_DOUBLE:
        *out = value->is.number;
        return true;
    default:
        return false;
    }
}

const char *mcp_json_string(const mcp_json *value, size_t *length)
{
    if (!mcp_json_is_string(value))
        return NULL;
    if (length)
        *length = value->count;
    return value->is.string;
}

/* ---- containers ------------------------------------------------------------------------------ */

size_t mcp_json_count(const mcp_json *container)
{
    return mcp_json_is_array(container) || mcp_json_is_object(container) ? container->count : 0;
}

const mcp_json *mcp_json_item(const mcp_json *container, size_t index)
{
    if (index >= mcp_json_count(container))
        return NULL;
    if (mcp_json_is_array(container))
        return &container->is.items[index];
    return &container->is.members[index].value;
}

const char *mcp_json_name(const mcp_json *object, size_t index, size_t *length)
{
    if (!mcp_json_is_object(object) || index >= object->count)
        return NULL;
    if (length)
        *length = object->is.members[index].length;
    return object->is.members[index].name;
}

/* ---- JSON Pointers (RFC 6901) ---------------------------------------------------------------- */

/* A token without '~' is looked up as it is; another is compared name by name and unescaped on the
 * way, so nothing is copied and no length is bounded. */

/* Whether the token, unescaped, is the name. A '~' not followed by 0 or 1 fits nothing. */
static bool token_is(const char *token, size_t size, const char *name, size_t length)
{
    size_t at = 0;

    for (size_t i = 0; i < size; i++, at++) {
        char byte = token[i];
        if (byte == '~') {
            i++;
            if (i == size || (token[i] != '0' && token[i] != '1'))
                return false;
            byte = token[i] == '0' ? '~' : '/';
        }
        if (at >= length || name[at] != byte)
            return false;
    }
    return at == length;
}

static const mcp_json *member_of(const mcp_json *object, const char *token, size_t size)
{
    if (!memchr(token, '~', size))
        return mcp_json_get_n(object, token, size);
    for (size_t i = object->count; i > 0; i--) {
        const mcp__json_member *member = &object->is.members[i - 1];
        if (token_is(token, size, member->name, member->length))
            return &member->value;
    }
    return NULL;
}

/* Array indices have no sign and no leading zeros; "-" means the item behind the last: none. */
static const mcp_json *item_of(const mcp_json *array, const char *token, size_t size)
{
    size_t index = 0;

    if (size == 0 || size > 10 || (size > 1 && token[0] == '0'))
        return NULL;
    for (size_t i = 0; i < size; i++) {
        if (token[i] < '0' || token[i] > '9')
            return NULL;
        index = index * 10 + (size_t)(token[i] - '0');
    }
    return mcp_json_item(array, index);
}

const mcp_json *mcp_json_pointer(const mcp_json *value, const char *pointer)
{
    while (value && pointer && *pointer == '/') {
        const char *token = pointer + 1;
        size_t size = strcspn(token, "/");
        if (mcp_json_is_object(value))
            value = member_of(value, token, size);
        else
            value = mcp_json_is_array(value) ? item_of(value, token, size) : NULL;
        pointer = token + size;
    }
    return pointer && *pointer == '\0' ? value : NULL;
}

/* ---- order and equality ---------------------------------------------------------------------- */

bool mcp__json_is_whole(const mcp_json *value, mcp__json_whole *out)
{
    uint64_t natural;
    int64_t integer;
    double number;

    if (mcp_json_uint(value, &natural))
        *out = natural;
    else if (mcp_json_int(value, &integer))
        *out = integer;
    else if (mcp_json_double(value, &number) && fabs(number) < 0x1p64 && trunc(number) == number)
        *out = (mcp__json_whole)number;
    else
        return false;
    return true;
}

/* `b` has a fraction or more than 64 bits. */
static bool is_below(mcp__json_whole a, double b)
{
    return fabs(b) < 0x1p64 ? a <= (mcp__json_whole)floor(b) : b > 0;
}

int mcp__json_compare(const mcp_json *a, const mcp_json *b)
{
    mcp__json_whole left;
    mcp__json_whole right;
    double x = 0;
    double y = 0;
    bool a_is_whole = mcp__json_is_whole(a, &left);
    bool b_is_whole = mcp__json_is_whole(b, &right);

    if (a_is_whole && b_is_whole)
        return (left > right) - (left < right);
    mcp_json_double(a, &x);
    mcp_json_double(b, &y);
    if (a_is_whole)
        return is_below(left, y) ? -1 : 1;
    if (b_is_whole)
        return is_below(right, x) ? 1 : -1;
    return (x > y) - (x < y);
}

static bool arrays_equal(const mcp_json *a, const mcp_json *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!mcp_json_equal(&a->is.items[i], &b->is.items[i]))
            return false;
    }
    return true;
}

static bool has_all_names(const mcp_json *object, const mcp_json *names)
{
    for (size_t i = 0; i < names->count; i++) {
        const mcp__json_member *member = &names->is.members[i];
        if (mcp__json_find(object, member->name, member->length) == object->count)
            return false;
    }
    return true;
}

static bool objects_equal(const mcp_json *a, const mcp_json *b)
{
    if (!has_all_names(a, b))
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const mcp__json_member *member = &a->is.members[i];
        if (mcp__json_find(a, member->name, member->length) != i)
            continue; /* a later member of that name counts */
        if (!mcp_json_equal(&member->value, mcp_json_get_n(b, member->name, member->length)))
            return false;
    }
    return true;
}

bool mcp_json_equal(const mcp_json *a, const mcp_json *b)
{
    if (!a || !b)
        return a == b;
    if (mcp_json_is_number(a) && mcp_json_is_number(b))
        return mcp__json_compare(a, b) == 0;
    if (a->type != b->type)
        return false;
    switch ((mcp_json_type)a->type) {
    case MCP_JSON_BOOL:
        return a->is.boolean == b->is.boolean;
    case MCP_JSON_STRING:
        return a->count == b->count && memcmp(a->is.string, b->is.string, a->count) == 0;
    case MCP_JSON_ARRAY:
        return arrays_equal(a, b);
    case MCP_JSON_OBJECT:
        return objects_equal(a, b);
    default:
        return true;
    }
}

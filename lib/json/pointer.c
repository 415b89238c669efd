/*
 * pointer.c - following a JSON Pointer (RFC 6901).
 *
 * A token without '~' is looked up as it is; another is compared name by name and unescaped on the
 * way, so nothing is copied and no length is bounded.
 */
#include <string.h>

#include "json/json_int.h"

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
    if (!pointer)
        return NULL;
    while (value && *pointer == '/') {
        const char *token = pointer + 1;
        size_t size = strcspn(token, "/");
        if (mcp_json_is_object(value))
            value = member_of(value, token, size);
        else
            value = mcp_json_is_array(value) ? item_of(value, token, size) : NULL;
        pointer = token + size;
    }
    return *pointer == '\0' ? value : NULL;
}

/*
 * member.h - members of JSON objects from outside.
 */
#ifndef AUTH_MEMBER_H
#define AUTH_MEMBER_H

#include <string.h>

#include "mcp/json.h"

/* The C string of a value; NULL where it is no string, or holds a NUL that would hide its end. */
static inline const char *auth_text(const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    return text && strlen(text) == length ? text : NULL;
}

#endif

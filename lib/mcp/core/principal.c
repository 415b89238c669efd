/*
 * principal.c - names and scopes, copied from hand to hand.
 *
 * A call outlives the request that it came by, so it has its own copy. Scopes are compared as whole
 * words: what one scope includes of another is the authorization server's to say, by granting both.
 */
#include "mcp/core/principal.h"

#include <string.h>

const mcp_principal *mcp__principal_copy(mcp_arena *arena, const mcp_principal *principal,
                                         bool *is_lost)
{
    *is_lost = false;
    if (!principal)
        return NULL;
    mcp_principal *copy = mcp_arena_alloc(arena, sizeof *copy);
    char *name = mcp_arena_strdup(arena, principal->name);
    char *scopes = mcp_arena_strdup(arena, principal->scopes ? principal->scopes : "");
    *is_lost = !copy || !name || !scopes;
    if (*is_lost)
        return NULL;
    *copy = (mcp_principal){ name, scopes, principal->expires_ms };
    return copy;
}

bool mcp__scopes_have(const char *list, const char *word, size_t length)
{
    for (list += strspn(list, " "); *list; list += strspn(list, " ")) {
        size_t next = strcspn(list, " ");
        if (next == length && memcmp(list, word, length) == 0)
            return true;
        list += next;
    }
    return false;
}

void mcp__scopes_add(mcp_buf *out, const char *scopes)
{
    for (scopes += strspn(scopes, " "); *scopes; scopes += strspn(scopes, " ")) {
        size_t length = strcspn(scopes, " ");
        if (!mcp__scopes_have(out->length > 0 ? out->data : "", scopes, length)) {
            if (out->length > 0)
                (void)mcp_buf_putc(out, ' ');
            (void)mcp_buf_append(out, scopes, length);
        }
        scopes += length;
    }
}

bool mcp__scopes_cover(const char *scopes, const char *wanted)
{
    for (wanted += strspn(wanted, " "); *wanted; wanted += strspn(wanted, " ")) {
        size_t length = strcspn(wanted, " ");
        if (!mcp__scopes_have(scopes, wanted, length))
            return false;
        wanted += length;
    }
    return true;
}

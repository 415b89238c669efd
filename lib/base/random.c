/*
 * random.c - getrandom(2), read to the end.
 *
 * The call may return fewer bytes than asked for when a signal comes, and waits only at boot;
 * nothing here is buffered, so there is nothing that a fork could copy.
 */
#include "mcp/random.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

mcp_status mcp_random_bytes(void *bytes, size_t length, mcp_error *err)
{
    char *at = bytes;

    while (length > 0) {
        ssize_t got = getrandom(at, length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_set(err, MCP_E_IO, "the system gives no random bytes: %s",
                                 strerror(errno));
        at += got;
        length -= (size_t)got;
    }
    return MCP_OK;
}

mcp_status mcp_random_id(char out[MCP_RANDOM_ID_SIZE], mcp_error *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char bytes[MCP_RANDOM_ID_SIZE / 2];
    mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);

    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < sizeof bytes; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[MCP_RANDOM_ID_SIZE - 1] = '\0';
    return MCP_OK;
}

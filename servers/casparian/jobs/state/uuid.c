/*
 * uuid.c - random ids in the form of RFC 9562, version 4.
 */
#include "jobs/state/uuid.h"

#include <stddef.h>
#include <stdint.h>

#include "mcp/random.h"

static bool is_dash(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

mcp_status casparian_uuid(char out[CASPARIAN_UUID_SIZE], mcp_error *err)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[16];
    size_t digit = 0;
    mcp_status st = mcp_random_bytes(bytes, sizeof bytes, err);
    if (st != MCP_OK)
        return st;
    bytes[6] = (uint8_t)((bytes[6] & 0x0F) | 0x40); /* section 5.4: version 4, variant 10 */
    bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80);
    for (size_t at = 0; at < CASPARIAN_UUID_SIZE - 1; at++) {
        if (is_dash(at)) {
            out[at] = '-';
            continue;
        }
        uint8_t byte = bytes[digit / 2];
        out[at] = digits[digit % 2 == 0 ? byte >> 4 : byte & 0x0F];
        digit++;
    }
    out[CASPARIAN_UUID_SIZE - 1] = '\0';
    return MCP_OK;
}

bool casparian_uuid_is_valid(const char *text)
{
    size_t at = 0;
    for (; text && text[at] != '\0' && at < CASPARIAN_UUID_SIZE; at++) {
        bool is_hex = (text[at] >= '0' && text[at] <= '9') || (text[at] >= 'a' && text[at] <= 'f');
        if (is_dash(at) ? text[at] != '-' : !is_hex)
            return false;
    }
    return at == CASPARIAN_UUID_SIZE - 1;
}

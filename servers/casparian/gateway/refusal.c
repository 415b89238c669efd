/*
 * refusal.c - the codes of errors, and their form.
 */
#include "gateway/refusal.h"

#include <string.h>

static const struct {
    const char *word;
    int exit_status;
} codes[] = {
#define ROW(name, word, exit_status) { word, exit_status },
    CASPARIAN_CODE_MAP(ROW)
#undef ROW
};

#define CODE_COUNT (sizeof codes / sizeof codes[0])

const char *casparian_code_text(casparian_code code)
{
    return codes[code].word;
}

int casparian_code_exit_status(casparian_code code)
{
    return codes[code].exit_status;
}

casparian_code casparian_code_find(const char *word)
{
    for (size_t i = 0; i < CODE_COUNT; i++)
        if (strcmp(codes[i].word, word) == 0)
            return (casparian_code)i;
    return CASPARIAN_CODE_INTERNAL;
}

casparian_code casparian_code_of(mcp_status status)
{
    switch ((int)status) {
    case MCP_E_PARSE:
    case MCP_E_PARAMS:
    case MCP_E_SCHEMA:
    case MCP_E_LIMIT:
        return CASPARIAN_CODE_INVALID_ARGUMENTS;
    case MCP_E_NOT_FOUND:
        return CASPARIAN_CODE_NOT_FOUND;
    case MCP_E_DENIED:
        return CASPARIAN_CODE_PERMISSION_DENIED;
    case MCP_E_STOPPED: /* the answer of a command is no */
        return CASPARIAN_CODE_FAILED;
    case MCP_E_EXISTS:
        return CASPARIAN_CODE_CONFLICT;
    case MCP_E_IO:
    case MCP_E_BUSY:
    case MCP_E_STORAGE:
    case MCP_E_UNSUPPORTED:
        return CASPARIAN_CODE_STORE_ERROR;
    default:
        return CASPARIAN_CODE_INTERNAL;
    }
}

/* Whether a message begins with a word, and not with a name or a path. */
static bool begins_with_word(const char *text, size_t length)
{
    size_t letters = 0;
    while (letters < length && text[letters] >= 'a' && text[letters] <= 'z')
        letters++;
    return letters > 0 && (letters == length || strchr(" ,:;'", text[letters]));
}

static void write_message(mcp_json_writer *json, const char *message)
{
    char text[1024];
    size_t length = strnlen(message, sizeof text - 1);
    while (message[length] && length > 0 && ((unsigned char)message[length] & 0xC0) == 0x80)
        length--;
    memcpy(text, message, length);
    if (begins_with_word(text, length))
        text[0] = (char)(text[0] - 'a' + 'A');
    mcp_write_name(json, "message");
    mcp_write_string_n(json, text, length);
}

void casparian_refusal_write(mcp_json_writer *json, const casparian_refusal *refusal)
{
    mcp_write_object(json);
    mcp_write_member_object(json, "error");
    mcp_write_member_string(json, "code", casparian_code_text(refusal->code));
    write_message(json, refusal->message);
    if (refusal->details) {
        mcp_write_name(json, "details");
        mcp_write_raw(json, refusal->details, strlen(refusal->details));
    }
    if (refusal->suggestion)
        mcp_write_member_string(json, "suggestion", refusal->suggestion);
    mcp_write_end(json);
    mcp_write_end(json);
}

/*
 * fuzz_session.c - ids that clients send in Mcp-Session-Id: whatever comes, it finds a session only
 * where it is the id of one, asked for by the principal that opened it.
 *
 * The first line is the principal, "-" for none, the rest the id. In it "@0", "@1" and "@2" stand
 * for the ids that there are.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/buf.h"
#include "mcp/core/session_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const owners[] = { NULL, "ada", "bob" };

static mcp_server_options options = { .name = "f",
                                      .version = "1",
                                      .oldest = MCP_2024_11_05,
                                      .newest = MCP_2026_07_28,
                                      .limits.calls_max_running = 1,
                                      .limits.message_max_bytes = 1000,
                                      .limits.reply_max_bytes = 1000 };

static void must(bool claim)
{
    if (!claim)
        abort();
}

static mcp_status route(mcp_call *call)
{
    (void)call;
    return MCP_E_METHOD;
}

static void on_ending(mcp__session_entry *entry, void *data)
{
    (void)entry;
    (void)data;
}

/* The id with what "@0" to "@2" stand for; cut at a NUL, as header values are. */
static void write_id(mcp_buf *out, const char *text, size_t length, mcp__session_entry *const *all)
{
    for (size_t i = 0; i < length && text[i] != '\0'; i++) {
        if (text[i] == '@' && i + 1 < length && text[i + 1] >= '0' && text[i + 1] <= '2')
            mcp_buf_puts(out, all[text[++i] - '0']->id);
        else
            mcp_buf_putc(out, text[i]);
    }
    mcp_buf_putc(out, '\0');
}

static bool is_principal(const char *owner, const char *principal)
{
    return owner && principal ? strcmp(owner, principal) == 0 : owner == principal;
}

static void look(const mcp__session_table *table, mcp__session_entry *const *all, const char *id,
                 const char *principal)
{
    const mcp__session_entry *found = mcp__session_table_find(table, id, principal);

    for (size_t i = 0; i < 3; i++)
        must((found == all[i]) ==
             (strcmp(all[i]->id, id) == 0 && is_principal(owners[i], principal)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const mcp__session_table_options how = {
        .context = { .options = &options, .route = route },
        .max = 3,
        .idle_ms = 1000,
        .events_max_bytes = 1000,
        .ending = on_ending,
    };
    const char *text = size > 0 ? (const char *)data : "";
    const char *newline = size > 0 ? memchr(text, '\n', size) : NULL;
    mcp__session_entry *all[3] = { NULL };
    mcp__session_table table;
    char principal[8] = "";
    mcp_buf id;

    if (!newline || (size_t)(newline - text) >= sizeof principal)
        return 0;
    memcpy(principal, text, (size_t)(newline - text));
    mcp__session_table_init(&table, &how);
    for (size_t i = 0; i < 3; i++)
        must(mcp__session_table_add(&all[i], &table, owners[i], 0, NULL) == MCP_OK);
    mcp_buf_init(&id, 1 << 24);
    write_id(&id, newline + 1, (size_t)(text + size - newline - 1), all);
    look(&table, all, id.data, strcmp(principal, "-") == 0 ? NULL : principal);
    mcp_buf_clear(&id);
    mcp__session_table_clear(&table);
    return 0;
}

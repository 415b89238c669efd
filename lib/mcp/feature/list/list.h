/*
 * list.h - a list of features as clients see it: entries rendered once per revision, sent in pages.
 */
#ifndef MCP_FEATURE_LIST_H
#define MCP_FEATURE_LIST_H

#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/error.h"
#include "mcp/json.h"

typedef struct mcp__list mcp__list;

/** Writes one entry (an object) as that revision knows it. Called while the server is put
 * together. */
typedef void mcp__list_render(mcp_json_writer *writer, const void *entry, mcp_revision revision);

/**
 * An empty list.
 *
 * @param out    yours, free it with mcp__list_free
 * @param member the result's member: "tools", "resourceTemplates"; borrowed, a constant
 */
mcp_status mcp__list_new(mcp__list **out, const char *member, mcp_error *err);

/** NULL is fine. */
void mcp__list_free(mcp__list *list);

/**
 * Add an entry at the end, rendered for each revision at once.
 *
 * @param key    what a cursor names it by, unique in the list: the name or URI; copied
 * @param scopes that it is for; NULL: for all; copied
 * @param entry  given to `render`; not kept
 */
mcp_status mcp__list_add(mcp__list *list, const char *key, const char *scopes,
                         mcp__list_render *render, const void *entry, mcp_error *err);

/** Append the scopes that entries are for, each word once, between spaces. */
void mcp__list_scopes(const mcp__list *list, mcp_buf *out);

/** How many entries a page has; 100 unless set. */
void mcp__list_set_page(mcp__list *list, size_t entries);

/**
 * Answer a list method: writes the page that params.cursor asks for to mcp_call_result, of the
 * entries that are visible to the client.
 *
 * @return MCP_OK; MCP_E_PARAMS: invalid cursor
 */
mcp_status mcp__list_answer(const mcp__list *list, mcp_call *call);

#endif

/*
 * list.c - lists that are rendered when the server is put together and only copied when asked for.
 *
 * An entry is kept as JSON text once for each revision. A page is the entries from a cursor on. The
 * cursor is base64url of "<member>:<key of the last entry sent>": it names an entry and not a
 * number, so that it leads on to the right place even if the list has changed since, and whatever
 * else of it the client may see.
 */
#include "mcp/feature/list/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/client.h"
#include "mcp/feature/list/entry.h"
#include "mcp/feature/list/exposure.h"

#define PAGE_ENTRIES 100
#define ENTRY_MAX_BYTES ((size_t)4 * 1024 * 1024)
#define REVISIONS (MCP_REVISION_NEWEST + 1)

struct entry {
    struct entry *next;
    char *key;
    size_t key_length;
    char *scopes;             /* NULL: for all */
    mcp_buf texts[REVISIONS]; /* by mcp_revision; NONE stays empty */
    mcp_buf plain[REVISIONS]; /* the same for clients that show no pages; empty: it is the same */
};

struct mcp__list {
    const char *member;
    mcp_feature feature; /* what its entries are */
    struct entry *first;
    struct entry *last;
    size_t count;
    size_t page;
    bool varies; /* some entry is not the same for all clients */
};

static mcp_feature feature_of(const char *member)
{
    if (strcmp(member, "tools") == 0)
        return MCP_FEATURE_TOOL;
    return strcmp(member, "prompts") == 0 ? MCP_FEATURE_PROMPT : MCP_FEATURE_RESOURCE;
}

mcp_status mcp__list_new(mcp__list **out, const char *member, mcp_error *err)
{
    mcp__list *list = mcp_alloc_zeroed(1, sizeof *list);

    if (!list)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the list of %s", member);
    list->member = member;
    list->feature = feature_of(member);
    list->page = PAGE_ENTRIES;
    *out = list;
    return MCP_OK;
}

static void entry_free(struct entry *entry)
{
    for (int revision = 0; revision < REVISIONS; revision++) {
        mcp_buf_clear(&entry->texts[revision]);
        mcp_buf_clear(&entry->plain[revision]);
    }
    free(entry->key);
    free(entry->scopes);
    free(entry);
}

void mcp__list_free(mcp__list *list)
{
    struct entry *next;

    if (!list)
        return;
    for (struct entry *entry = list->first; entry; entry = next) {
        next = entry->next;
        entry_free(entry);
    }
    free(list);
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *out = mcp_alloc(size);

    return out ? memcpy(out, text, size) : NULL;
}

static struct entry *entry_new(const char *key, const char *scopes)
{
    struct entry *entry = mcp_alloc_zeroed(1, sizeof *entry);

    if (!entry)
        return NULL;
    for (int revision = 0; revision < REVISIONS; revision++) {
        mcp_buf_init(&entry->texts[revision], ENTRY_MAX_BYTES);
        mcp_buf_init(&entry->plain[revision], ENTRY_MAX_BYTES);
    }
    entry->key_length = strlen(key);
    entry->key = copy(key);
    entry->scopes = scopes ? copy(scopes) : NULL;
    if (!entry->key || (scopes && !entry->scopes)) {
        entry_free(entry);
        return NULL;
    }
    return entry;
}

/* `*plain` becomes `text` without pages, or stays empty when it names none. */
static mcp_status render_plain(mcp_buf *plain, const mcp_buf *text)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *entry = NULL;
    mcp_json_writer writer;
    mcp_status st = arena ? mcp_json_read(&entry, arena, text->data, text->length, NULL)
                          : MCP_E_NOMEM;

    if (st == MCP_OK && mcp__ui_is_in(entry)) {
        mcp_json_writer_init(&writer, plain);
        mcp__ui_write_without(&writer, entry);
        st = mcp_json_writer_status(&writer);
    }
    mcp_arena_free(arena);
    return st;
}

static mcp_status render_all(struct entry *entry, mcp__list_render *render, const void *what)
{
    mcp_status st = MCP_OK;

    for (int revision = MCP_2024_11_05; revision < REVISIONS && st == MCP_OK; revision++) {
        mcp_json_writer writer;
        mcp_json_writer_init(&writer, &entry->texts[revision]);
        render(&writer, what, (mcp_revision)revision);
        st = mcp_json_writer_status(&writer);
        if (st == MCP_OK)
            st = render_plain(&entry->plain[revision], &entry->texts[revision]);
    }
    return st;
}

mcp_status mcp__list_add(mcp__list *list, const char *key, const char *scopes,
                         mcp__list_render *render, const void *entry, mcp_error *err)
{
    struct entry *fresh = entry_new(key, scopes);
    mcp_status st = fresh ? render_all(fresh, render, entry) : MCP_E_NOMEM;

    if (st != MCP_OK) {
        if (fresh)
            entry_free(fresh);
        return mcp_error_set(err, st, "%s cannot be put into the list of %s: %s", key, list->member,
                             mcp_status_words(st));
    }
    if (list->last)
        list->last->next = fresh;
    else
        list->first = fresh;
    list->last = fresh;
    list->count++;
    list->varies = list->varies || fresh->plain[MCP_REVISION_NEWEST].length > 0;
    return MCP_OK;
}

void mcp__list_scopes(const mcp__list *list, mcp_buf *out)
{
    for (const struct entry *entry = list->first; entry; entry = entry->next)
        if (entry->scopes)
            mcp__scopes_add(out, entry->scopes);
}

void mcp__list_set_page(mcp__list *list, size_t entries)
{
    list->page = entries;
}

/* No key is so long: what decoding is spent on is bounded. */
#define CURSOR_MAX ((size_t)32 * 1024)

/* The key that a cursor of this list names, NULL when it is no such cursor. */
static const char *cursor_key(const mcp__list *list, mcp_arena *arena, const char *cursor,
                              size_t length, size_t *key_length)
{
    size_t prefix = strlen(list->member);
    size_t decoded = 0;
    const char *text = length <= CURSOR_MAX ? mcp__base64url_decode(arena, cursor, length, &decoded)
                                            : NULL;

    if (!text || decoded <= prefix || memcmp(text, list->member, prefix) != 0 ||
        text[prefix] != ':')
        return NULL;
    *key_length = decoded - prefix - 1;
    return text + prefix + 1;
}

/* This entry or the first after it that is visible. */
static const struct entry *shown_from(const mcp__list *list, const mcp_call *call,
                                      const struct entry *entry)
{
    while (entry && !mcp__exposure_shows(call, list->feature, entry->key, entry->scopes))
        entry = entry->next;
    return entry;
}

/* The entry of that key, if it is visible: a cursor must not disclose entries. */
static const struct entry *find_shown(const mcp__list *list, const mcp_call *call, const char *key,
                                      size_t length)
{
    const struct entry *entry = list->first;

    while (entry && (entry->key_length != length || memcmp(entry->key, key, length) != 0))
        entry = entry->next;
    return entry && mcp__exposure_shows(call, list->feature, entry->key, entry->scopes) ? entry
                                                                                        : NULL;
}

/* *from: the first entry of the page; NULL at the end. */
static mcp_status find_page(const mcp__list *list, mcp_call *call, const struct entry **from)
{
    const mcp_json *cursor = mcp_json_get(call->request.params, "cursor");
    size_t length = 0;
    size_t key_length = 0;
    const char *text = mcp_json_string(cursor, &length);
    const char *key;

    *from = shown_from(list, call, list->first);
    if (!cursor)
        return MCP_OK;
    key = text ? cursor_key(list, call->arena, text, length, &key_length) : NULL;
    const struct entry *last = key ? find_shown(list, call, key, key_length) : NULL;
    if (!last)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "invalid cursor");
    *from = shown_from(list, call, last->next);
    return MCP_OK;
}

static mcp_status write_cursor(const mcp__list *list, mcp_call *call, const struct entry *last)
{
    const char *plain = mcp_arena_printf(call->arena, "%s:%s", list->member, last->key);
    const char *cursor = plain ? mcp__base64url_encode(call->arena, plain, strlen(plain)) : NULL;

    if (!cursor)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a cursor");
    mcp_write_member_string(mcp_call_result(call), "nextCursor", cursor);
    return MCP_OK;
}

static const mcp_buf *text_for(const struct entry *entry, const mcp_call *call)
{
    const mcp_buf *plain = &entry->plain[call->request.revision];

    return plain->length > 0 && !mcp_call_client_can(call, MCP_CLIENT_UI)
               ? plain
               : &entry->texts[call->request.revision];
}

mcp_status mcp__list_answer(const mcp__list *list, mcp_call *call)
{
    const struct entry *at = NULL;
    const struct entry *last = NULL;
    mcp_json_writer *writer;
    mcp_status st = find_page(list, call, &at);

    if (st != MCP_OK)
        return st;
    if (list->varies || mcp__exposure_varies(call->context->options))
        call->answer.caching.is_public = false;
    writer = mcp_call_result(call);
    mcp_write_member_array(writer, list->member);
    for (size_t i = 0; at && i < list->page; i++, at = shown_from(list, call, at->next)) {
        const mcp_buf *text = text_for(at, call);
        mcp_write_raw(writer, text->data, text->length);
        last = at;
    }
    mcp_write_end(writer);
    return at && last ? write_cursor(list, call, last) : MCP_OK;
}

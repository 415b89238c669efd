/*
 * list.c - lists that are rendered when the server is put together and only copied when asked for.
 *
 * An entry is kept as JSON text once for each revision. A page is the entries from a cursor on. The
 * cursor is base64url of "<member>:<name of the last entry sent>": it names an entry and not a
 * number, so that it leads on to the right place even if the list has changed since, and whatever
 * else of it the client may see.
 *
 * Names with '/' are the contract of some servers and refused by some hosts. So every tool and
 * prompt has a second, safe name. Which one a list shows is an option; a call may use either,
 * always.
 */
#include "mcp/feature/list.h"

#include <string.h>

#include "base/base64.h"
#include "mcp/core/call/client.h"

#define PAGE_ENTRIES 100
#define ENTRY_MAX_BYTES ((size_t)4 * 1024 * 1024)

void mcp__list_init(mcp__list *list, mcp_arena *arena, const char *member, mcp_feature kind)
{
    *list = (mcp__list){ .arena = arena, .member = member, .kind = kind, .page = PAGE_ENTRIES };
    mcp__map_init(&list->by_name, arena);
}

/* ---- names ----------------------------------------------------------------------------------- */

char mcp__list_safe_byte(char c)
{
    bool is_safe = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');

    return is_safe ? c : '_';
}

mcp_status mcp__list_set_safe_name(const mcp__list *list, mcp__feature *feature, mcp_error *err)
{
    char *safe = mcp_arena_strndup(list->arena, feature->name,
                                   strnlen(feature->name, MCP__SAFE_NAME_MAX));

    if (!safe)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %s", list->member);
    for (char *at = safe; *at; at++)
        *at = mcp__list_safe_byte(*at);
    feature->safe_name = strcmp(safe, feature->name) == 0 ? feature->name : safe;
    return MCP_OK;
}

bool mcp__list_shows_safe_names(const mcp_server_options *options, mcp_revision revision)
{
    if (options->tool_names == MCP_NAMES_AUTO)
        return revision >= MCP_2025_06_18;
    return options->tool_names == MCP_NAMES_SAFE;
}

const char *mcp__list_shown_name(const mcp__feature *feature, const mcp_server_options *options,
                                 mcp_revision revision)
{
    return mcp__list_shows_safe_names(options, revision) ? feature->safe_name : feature->name;
}

mcp__feature *mcp__list_find(const mcp__list *list, const char *name, size_t length)
{
    return mcp__map_get(&list->by_name, name, length);
}

mcp__feature *mcp__list_find_namesake(const mcp__list *list, const mcp__feature *feature)
{
    mcp__feature *other = mcp__list_find(list, feature->name, strlen(feature->name));

    return other ? other : mcp__list_find(list, feature->safe_name, strlen(feature->safe_name));
}

/* ---- what files say -------------------------------------------------------------------------- */

mcp_status mcp__list_check_members(const mcp_json *entry, const mcp__list_member *table,
                                   mcp_error *err)
{
    const char *twice = mcp_json_duplicate(entry);

    if (twice)
        return mcp_error_set(err, MCP_E_PARAMS, "duplicate member '%s'", twice);
    for (; table->name; table++) {
        mcp_json_type type = mcp_json_type_of(mcp_json_get(entry, table->name));
        if (type != MCP_JSON_ABSENT && type != table->type)
            return mcp_error_set(err, MCP_E_PARAMS, "'%s' is of type %s, not %s", table->name,
                                 mcp_json_type_name(type), mcp_json_type_name(table->type));
    }
    return MCP_OK;
}

/* ---- who may know ---------------------------------------------------------------------------- */

/* RFC 6749, 3.3: printable ASCII without the quote and the backslash. */
static bool is_scope_byte(char c)
{
    return c > 0x20 && c < 0x7f && c != '"' && c != '\\';
}

bool mcp__list_are_scopes(const char *text)
{
    bool in_word = false;

    for (; *text; text++) {
        if (*text == ' ' ? !in_word : !is_scope_byte(*text))
            return false;
        in_word = *text != ' ';
    }
    return in_word;
}

mcp_status mcp__list_read_scopes(const char **out, const mcp_json *entry, mcp_error *err)
{
    const mcp_json *value = mcp_json_get(mcp_json_get(entry, "_meta"), MCP__SCOPES_KEY);
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);

    if (value && (!text || strlen(text) != length || !mcp__list_are_scopes(text)))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "_meta[\"" MCP__SCOPES_KEY "\"] must be scopes between single spaces");
    *out = text;
    return MCP_OK;
}

bool mcp__list_varies(const mcp_server_options *options)
{
    return options->visible || options->hide_by_scope;
}

bool mcp__list_judge(const mcp_call *call, mcp_feature kind, const char *name, const char *scopes,
                     mcp_hiding *reason)
{
    const mcp_server_options *options = call->context->options;

    if (scopes && options->hide_by_scope && !mcp_call_has_scopes(call, scopes)) {
        *reason = MCP_HIDDEN_BY_SCOPE;
        return false;
    }
    *reason = MCP_HIDDEN_BY_SERVER;
    return !options->visible || options->visible(call, kind, name, options->data);
}

bool mcp__list_shows(const mcp_call *call, mcp_feature kind, const char *name, const char *scopes)
{
    mcp_hiding reason;

    return mcp__list_judge(call, kind, name, scopes, &reason);
}

/* ---- writing --------------------------------------------------------------------------------- */

void mcp__list_write_members(mcp_json_writer *writer, const mcp_json *object, const char *except)
{
    for (size_t i = 0; i < mcp_json_count(object); i++) {
        const char *name = mcp_json_name(object, i, NULL);
        if (!except || strcmp(name, except) != 0)
            mcp_write_member_value(writer, name, mcp_json_item(object, i));
    }
}

void mcp__list_write_meta(mcp_json_writer *writer, const mcp_json *own, const char *name,
                          const char *text, const char *other_name, const char *other_text)
{
    if (!own && !text && !other_text)
        return;
    mcp_write_member_object(writer, "_meta");
    mcp__list_write_members(writer, own, NULL);
    if (text)
        mcp_write_member_string(writer, name, text);
    if (other_text)
        mcp_write_member_string(writer, other_name, other_text);
    mcp_write_end(writer);
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* A tool names the page that shows its result (the extension io.modelcontextprotocol/ui) by one of
 * these members of its _meta; only clients with the extension see them. */
static const char *const page_keys[] = { "ui", "ui/resourceUri" };

static bool is_page_key(const char *name)
{
    return strcmp(name, page_keys[0]) == 0 || strcmp(name, page_keys[1]) == 0;
}

static void write_without_page(mcp_json_writer *writer, const mcp_json *entry)
{
    mcp_write_object(writer);
    for (size_t i = 0; i < mcp_json_count(entry); i++) {
        const char *name = mcp_json_name(entry, i, NULL);
        const mcp_json *value = mcp_json_item(entry, i);
        if (strcmp(name, "_meta") != 0) {
            mcp_write_member_value(writer, name, value);
            continue;
        }
        mcp_write_member_object(writer, name);
        for (size_t k = 0; k < mcp_json_count(value); k++)
            if (!is_page_key(mcp_json_name(value, k, NULL)))
                mcp_write_member_value(writer, mcp_json_name(value, k, NULL),
                                       mcp_json_item(value, k));
        mcp_write_end(writer);
    }
    mcp_write_end(writer);
}

static mcp_status keep_text(mcp__list_text *out, mcp_arena *arena, const mcp_json_writer *writer)
{
    const mcp_buf *text = writer->buf;
    mcp_status st = mcp_json_writer_status(writer);

    if (st == MCP_OK) {
        out->json = mcp_arena_strndup(arena, text->data, text->length);
        st = out->json ? MCP_OK : MCP_E_NOMEM;
        out->length = text->length;
    }
    return st;
}

/* The entry as one revision knows it, also without its page where it names one. */
static mcp_status render_one(const mcp__list *list, mcp__feature *feature, mcp__list_render *render,
                             mcp_revision revision, mcp_buf *text)
{
    mcp_arena *scratch = mcp_arena_new(0);
    const mcp_json *entry = NULL;
    const mcp_json *meta = NULL;
    mcp_json_writer writer;
    mcp_status st = scratch ? MCP_OK : MCP_E_NOMEM;

    mcp_buf_reset(text);
    mcp_json_writer_init(&writer, text);
    render(&writer, feature, revision);
    if (st == MCP_OK)
        st = keep_text(&feature->texts[revision], list->arena, &writer);
    if (st == MCP_OK)
        st = mcp_json_read(&entry, scratch, text->data, text->length, NULL);
    meta = mcp_json_get(entry, "_meta");
    if (mcp_json_get(meta, page_keys[0]) || mcp_json_get(meta, page_keys[1])) {
        mcp_buf_reset(text);
        mcp_json_writer_init(&writer, text);
        write_without_page(&writer, entry);
        st = keep_text(&feature->plain[revision], list->arena, &writer);
    }
    mcp_arena_free(scratch);
    return st;
}

mcp_status mcp__list_add(mcp__list *list, mcp__feature *feature, mcp__list_render *render,
                         mcp_error *err)
{
    const char *names[] = { feature->name, feature->safe_name };
    mcp_buf text;
    mcp_status st = MCP_OK;

    mcp_buf_init(&text, ENTRY_MAX_BYTES);
    for (int revision = MCP_2024_11_05; revision <= MCP_REVISION_NEWEST && st == MCP_OK; revision++)
        st = render_one(list, feature, render, (mcp_revision)revision, &text);
    mcp_buf_clear(&text);
    for (size_t i = 0; i < 2 && names[i] && st == MCP_OK; i++) /* one key, where the two are one */
        st = mcp__map_put(&list->by_name, names[i], strlen(names[i]), feature);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "%s cannot be put into the list of %s: %s", feature->name,
                             list->member, mcp_status_words(st));
    if (list->last)
        list->last->next = feature;
    else
        list->first = feature;
    list->last = feature;
    list->varies = list->varies || feature->plain[MCP_REVISION_NEWEST].length > 0;
    return MCP_OK;
}

void mcp__list_scopes(const mcp__list *list, mcp_buf *out)
{
    for (const mcp__feature *feature = list->first; feature; feature = feature->next)
        if (feature->scopes)
            mcp__scopes_add(out, feature->scopes);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* No name is so long: what decoding is spent on is bounded. */
#define CURSOR_MAX ((size_t)32 * 1024)

static bool is_shown(const mcp__list *list, const mcp_call *call, const mcp__feature *feature)
{
    return !feature->is_unlisted &&
           mcp__list_shows(call, list->kind, feature->name, feature->scopes);
}

/* This entry or the first after it that is visible. */
static const mcp__feature *shown_from(const mcp__list *list, const mcp_call *call,
                                      const mcp__feature *feature)
{
    while (feature && !is_shown(list, call, feature))
        feature = feature->next;
    return feature;
}

/* The entry that a cursor of this list names, if it is visible: a cursor must not disclose
 * entries. */
static const mcp__feature *find_last(const mcp__list *list, const mcp_call *call,
                                     const mcp_json *cursor)
{
    size_t prefix = strlen(list->member);
    size_t length = 0;
    const char *text = mcp_json_string(cursor, &length);
    const mcp__feature *last;

    if (text)
        text = length <= CURSOR_MAX ? mcp__base64url_decode(call->arena, text, length, &length)
                                    : NULL;
    if (!text || length <= prefix || memcmp(text, list->member, prefix) != 0 || text[prefix] != ':')
        return NULL;
    text += prefix + 1;
    length -= prefix + 1;
    last = mcp__list_find(list, text, length);
    /* No cursor of ours has a safe name. */
    return last && strlen(last->name) == length && memcmp(last->name, text, length) == 0 &&
                   is_shown(list, call, last)
               ? last
               : NULL;
}

static mcp_status write_cursor(const mcp__list *list, mcp_call *call, const mcp__feature *last)
{
    const char *plain = mcp_arena_printf(call->arena, "%s:%s", list->member, last->name);
    const char *cursor = plain ? mcp__base64url_encode(call->arena, plain, strlen(plain)) : NULL;

    if (!cursor)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a cursor");
    mcp_write_member_string(mcp_call_result(call), "nextCursor", cursor);
    return MCP_OK;
}

mcp_status mcp__list_answer(const mcp__list *list, mcp_call *call)
{
    const mcp_json *cursor = mcp_json_get(call->request.params, "cursor");
    const mcp__feature *last = cursor ? find_last(list, call, cursor) : NULL;
    const mcp__feature *at = shown_from(list, call, last ? last->next : list->first);
    mcp_json_writer *writer;

    if (cursor && !last)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "invalid cursor");
    if (list->varies || mcp__list_varies(call->context->options))
        call->answer.caching.is_public = false;
    writer = mcp_call_result(call);
    mcp_write_member_array(writer, list->member);
    for (size_t i = 0; at && i < list->page; i++, at = shown_from(list, call, at->next)) {
        const mcp__list_text *text = &at->plain[call->request.revision];
        if (text->length == 0 || mcp_call_client_can(call, MCP_CLIENT_UI))
            text = &at->texts[call->request.revision];
        mcp_write_raw(writer, text->json, text->length);
        last = at;
    }
    mcp_write_end(writer);
    return at && last ? write_cursor(list, call, last) : MCP_OK;
}

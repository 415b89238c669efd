/*
 * list.h - a list of features as clients see it: under which names, in the form of a revision, in
 * pages; and who may know of an entry.
 */
#ifndef MCP_FEATURE_LIST_H
#define MCP_FEATURE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "mcp/arena.h"
#include "mcp/buf.h"
#include "mcp/core/call/call_int.h"
#include "mcp/error.h"
#include "mcp/json.h"
#include "mcp/server.h"

/** JSON text in the list's arena. */
typedef struct mcp__list_text {
    const char *json;
    size_t length; /* 0: none */
} mcp__list_text;

/** What tools, prompts, resources and templates have in common: the first member of each. */
typedef struct mcp__feature {
    struct mcp__feature *next; /* in its list */
    const char *name;          /* as registered: a name, a URI or a template */
    const char *safe_name; /* of a tool or prompt: what hosts without '/' in their rules can take */
    const char *scopes;    /* that a token needs; NULL: none */
    bool is_unlisted;      /* known by its name alone */
    void *data;            /* for its function */
    mcp__list_text texts[MCP_REVISION_NEWEST + 1]; /* its entry, by mcp_revision */
    mcp__list_text
        plain[MCP_REVISION_NEWEST + 1]; /* for clients that show no pages, if it differs */
} mcp__feature;

/** In an arena, which pays for it all. */
typedef struct mcp__list {
    mcp_arena *arena;
    const char *member; /* of the result: "tools", "resourceTemplates" */
    mcp_feature kind;   /* of its entries */
    mcp__feature *first;
    mcp__feature *last;
    mcp__map by_name; /* both names to mcp__feature */
    size_t page;      /* how many entries a page has; 100 unless set */
    bool varies;      /* some entry is not the same for all clients */
} mcp__list;

/** Writes one entry (an object) as that revision knows it. Called while the server is put
 * together. */
typedef void mcp__list_render(mcp_json_writer *writer, const mcp__feature *feature,
                              mcp_revision revision);

/** What a member of a feature's entry must be. A table of them ends with a row whose name is
 *  NULL. */
typedef struct mcp__list_member {
    const char *name;
    mcp_json_type type;
} mcp__list_member;

/**
 * Check an entry of a file: no member occurs twice, and those of the table have their type.
 *
 * @return MCP_OK; MCP_E_PARAMS: the message names the member
 */
mcp_status mcp__list_check_members(const mcp_json *entry, const mcp__list_member *table,
                                   mcp_error *err);

/** Make the list empty. @param member borrowed, a constant */
void mcp__list_init(mcp__list *list, mcp_arena *arena, const char *member, mcp_feature kind);

/** Bytes of a safe name. */
#define MCP__SAFE_NAME_MAX 64

/** Set the safe name of a feature: every byte outside A-Z a-z 0-9 _ becomes '_', cut at 64. It is
 *  the same pointer as the name where that is safe. @return MCP_OK; MCP_E_NOMEM */
mcp_status mcp__list_set_safe_name(const mcp__list *list, mcp__feature *feature, mcp_error *err);

/** The byte as safe names have it. */
char mcp__list_safe_byte(char c);

/** Whether lists show safe names in that revision. */
bool mcp__list_shows_safe_names(const mcp_server_options *options, mcp_revision revision);

/** The name of a tool or prompt that a list shows in that revision. */
const char *mcp__list_shown_name(const mcp__feature *feature, const mcp_server_options *options,
                                 mcp_revision revision);

/** The feature of either name; NULL: none. */
mcp__feature *mcp__list_find(const mcp__list *list, const char *name, size_t length);

/** The feature that has one of the names of `feature`; NULL: none. */
mcp__feature *mcp__list_find_namesake(const mcp__list *list, const mcp__feature *feature);

/**
 * Add a feature at the end, rendered for each revision at once.
 *
 * @param feature with its names, which nobody has, and its scopes; borrowed while the list lives
 */
mcp_status mcp__list_add(mcp__list *list, mcp__feature *feature, mcp__list_render *render,
                         mcp_error *err);

/** Append the scopes that entries are for, each word once, between spaces. */
void mcp__list_scopes(const mcp__list *list, mcp_buf *out);

/**
 * Answer a list method: writes the page that params.cursor asks for to mcp_call_result, of the
 * entries that are visible to the client.
 *
 * @return MCP_OK; MCP_E_PARAMS: invalid cursor
 */
mcp_status mcp__list_answer(const mcp__list *list, mcp_call *call);

/** Write the members of an object but for one; `except` may be NULL. */
void mcp__list_write_members(mcp_json_writer *writer, const mcp_json *object, const char *except);

/** Write `_meta` with the members that the feature's file has, and two texts of ours. Any may be
 *  NULL; without all there is no `_meta`. */
void mcp__list_write_meta(mcp_json_writer *writer, const mcp_json *own, const char *name,
                          const char *text, const char *other_name, const char *other_text);

/* Two questions, kept apart. What one may not know of is left out of lists, and a call of it is
 * answered as a call of nothing. What one may know of but not use is refused with the scopes that
 * are missing, so that the client can get a better token. An option makes the second an instance of
 * the first. */

/** Members of a feature's _meta: its scopes; its registered name, where another is shown. */
#define MCP__SCOPES_KEY "causeway/scopes"
#define MCP__NAME_KEY "causeway/canonicalName"

/**
 * The scopes that a feature's entry asks for.
 *
 * @param out   borrowed from `entry`; NULL: none
 * @param entry an object with or without _meta
 * @return MCP_OK; MCP_E_PARAMS: they are not a text of words (RFC 6749, 3.3) between single spaces
 */
mcp_status mcp__list_read_scopes(const char **out, const mcp_json *entry, mcp_error *err);

/** Whether the text is one or more scopes. */
bool mcp__list_are_scopes(const char *text);

/** Whether lists may differ between clients. */
bool mcp__list_varies(const mcp_server_options *options);

/** Whether a feature is visible to the client. `scopes` may be NULL. */
bool mcp__list_shows(const mcp_call *call, mcp_feature kind, const char *name, const char *scopes);

/** The same, with the reason where it is not. */
bool mcp__list_judge(const mcp_call *call, mcp_feature kind, const char *name, const char *scopes,
                     mcp_hiding *reason);

#endif

/*
 * compile.h - what the files that compile a schema share.
 *
 * Compiling goes in two steps. First a document becomes nodes, and each `$id` and anchor in it is
 * entered in the maps; then the references that wait in `pending` are resolved, which may load more
 * documents and so add more references, until none is left.
 */
#ifndef MCP_SCHEMA_COMPILE_H
#define MCP_SCHEMA_COMPILE_H

#include "base/map.h"
#include "schema/node.h"

/* The vocabularies of the draft that change what a keyword does. */
enum {
    MCP__CORE = 1,
    MCP__APPLICATOR = 2,
    MCP__UNEVALUATED = 4,
    MCP__VALIDATION = 8,
    MCP__FORMAT = 16,           /* format, whether it asserts or not */
    MCP__FORMAT_ASSERTION = 32, /* it asserts */
    MCP__CONTENT = 64
};

struct mcp__compiler {
    mcp_schema *schema;
    mcp_arena *arena;
    const mcp_schema_options *options;
    mcp__map resources; /* URI: mcp__resource */
    mcp__map anchors;   /* URI "#" name: mcp__anchor */
    mcp__map nodes;     /* the address of the JSON value: mcp__subschema */
    mcp__rule *pending; /* references whose target is not known yet */
    uint32_t subschemas_left;
    bool has_all_documents;
};

/* The keyword table, in the order in which a value is checked; ends with a row without a name. */
extern const mcp__keyword mcp__keywords[];

/*
 * Compile one subschema and all below it.
 *
 * @param resource the resource around it; NULL for the root of a document, which becomes one
 * @param uri      the document's own URI; only for a root
 */
mcp_status mcp__compile_node(const mcp__subschema **out, mcp__compiler *compiler,
                             const mcp_json *json, const mcp__location *at, mcp__resource *resource,
                             const char *uri, mcp_error *err);

/* Compile a document that is known by `uri`. */
mcp_status mcp__compile_document(const mcp__subschema **out, mcp__compiler *compiler,
                                 const char *uri, const mcp_json *json, mcp_error *err);

/* Read `$id`, `$schema`, `$anchor` and `$dynamicAnchor` of a node, and say what resource it lies
 * in. */
mcp_status mcp__identify(mcp__compiler *compiler, mcp__subschema *node, mcp__resource *resource,
                         const char *uri, mcp_error *err);

/* Find the target of every reference in `pending`. */
mcp_status mcp__resolve_references(mcp__compiler *compiler, mcp_error *err);

/* The vocabularies that a schema with this `$schema` uses. `schema`: for the error alone; may be
 * NULL. */
mcp_status mcp__dialect(unsigned *out, mcp__compiler *compiler, const char *uri,
                        const mcp_json *schema, mcp_error *err);

/* The root of the document or meta-schema of that URI, not compiled; NULL when there is none. */
mcp_status mcp__find_document(const mcp_json **out, mcp__compiler *compiler, const char *uri,
                              mcp_error *err);

/* An error that begins with the place of a keyword (NULL: of the subschema itself). */
mcp_status mcp__compile_fault(const mcp__compiler *compiler, const mcp__subschema *node,
                              const char *keyword, mcp_error *err, const char *format, ...)
    MCP_PRINTF(5, 6);

/* Why the arena gave nothing. */
mcp_status mcp__compile_no_memory(const mcp__compiler *compiler, mcp_error *err);

/* What `$schema` says when it means this draft. */
#define MCP__DRAFT_2020_12 "https://json-schema.org/draft/2020-12/schema"

/* The JSON text of the meta-schema of that URI (without fragment); NULL for any other. */
const char *mcp__meta_schema(const char *uri);

/* The reference as seen from `base`, fragment included. A base that is itself relative, or "",
 * is fine: then the answer may be relative too. The answer is the arena's; NULL when memory is
 * out. */
char *mcp__uri_resolve(mcp_arena *arena, const char *base, const char *reference);

/* Cut a URI in place at its '#' and hand the fragment back, percent-decoded in place; "" when
 * there is none. NULL when the fragment holds a NUL or a broken escape. */
char *mcp__uri_split(char *uri);

#endif

/*
 * compile.h - what the files that compile a schema share.
 *
 * Compiling goes in two steps. First a document becomes nodes, and each `$id` and anchor in it is
 * entered in the maps; then the references that wait in `pending` are resolved, which may load more
 * documents and so add more references, until none is left.
 *
 * A function that answers bool answers "go on?": after a failure, which is recorded in the
 * compiler, it is false, and one that answers with a pointer answers NULL.
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
    mcp_error *err;
    mcp_status status;
    mcp__map resources; /* URI: mcp__resource */
    mcp__map anchors;   /* URI "#" name: mcp__anchor */
    mcp__map nodes;     /* the address of the JSON value: mcp__subschema */
    mcp__map patterns;  /* expression: mcp__pattern */
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
const mcp__subschema *mcp__compile_node(mcp__compiler *compiler, const mcp_json *json,
                                        const mcp__location *at, mcp__resource *resource,
                                        const char *uri);

/* The resource of that URI, from a document that is compiled for it where need be. NULL as well
 * when there is none. */
const mcp__resource *mcp__find_resource(mcp__compiler *compiler, const char *uri);

/* Find the target of every reference in `pending`. */
bool mcp__resolve_references(mcp__compiler *compiler);

/* Fail with an error that begins with the place of a keyword (NULL: of the subschema itself). */
bool mcp__compile_fault(mcp__compiler *compiler, const mcp__subschema *node, const char *keyword,
                        const char *format, ...) MCP_PRINTF(4, 5);

/* Fail because the arena gave nothing. */
bool mcp__compile_no_memory(mcp__compiler *compiler);

/* An array of the schema's arena, zeroed. */
void *mcp__compile_alloc(mcp__compiler *compiler, size_t count, size_t size);

/* Where the meta-schemas of the draft are, and what `$schema` says when it means this draft. */
#define MCP__DRAFT "https://json-schema.org/draft/2020-12/"
#define MCP__DRAFT_2020_12 MCP__DRAFT "schema"

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

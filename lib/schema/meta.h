/*
 * meta.h - the draft's own meta-schemas, which are always there.
 */
#ifndef MCP_SCHEMA_META_H
#define MCP_SCHEMA_META_H

/* What `$schema` says when it means this draft. */
#define MCP__DRAFT_2020_12 "https://json-schema.org/draft/2020-12/schema"

/* The JSON text of the meta-schema of that URI (without fragment); NULL for any other. */
const char *mcp__meta_schema(const char *uri);

#endif

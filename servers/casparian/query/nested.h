/**
 * nested.h - lists, structs and maps as a client sees them.
 *
 * JSON does not say what a text or the name of a member is: a value of data, a number that JSON has
 * no room for, or a word of the schema. The name of the engine's type does.
 */
#ifndef CASPARIAN_QUERY_NESTED_H
#define CASPARIAN_QUERY_NESTED_H

#include "check/redact.h"

/**
 * Write a nested value as it is shown. The keys of a map are redacted as its values are, the names
 * of a struct are not; numbers and times that are texts of JSON pass as others do. Keys that become
 * alike are numbered: "[hash:75740b32] (2)". Of a union with a map in it the text is redacted.
 *
 * @param type  of the value, as values_type_name writes it
 * @param arena for the keys of maps
 */
void casparian_nested_redact(mcp_json_writer *out, const casparian_redaction *redaction,
                             bool is_sensitive, const char *type, const mcp_json *value,
                             mcp_arena *arena);

#endif

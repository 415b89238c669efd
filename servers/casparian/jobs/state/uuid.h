/*
 * uuid.h - random ids in the form of RFC 9562, version 4.
 */
#ifndef CASPARIAN_JOBS_STATE_UUID_H
#define CASPARIAN_JOBS_STATE_UUID_H

#include <stdbool.h>

#include "mcp/error.h"

#define CASPARIAN_UUID_SIZE 37

/* As mcp_random_bytes. */
mcp_status casparian_uuid(char out[CASPARIAN_UUID_SIZE], mcp_error *err);

/* Whether a text is 8-4-4-4-12 lower-case hexadecimal digits. False for NULL. */
bool casparian_uuid_is_valid(const char *text);

#endif

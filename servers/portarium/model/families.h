/**
 * families.h - the port families and the capabilities of each. Pure tables; any thread.
 */
#ifndef PORTARIUM_FAMILIES_H
#define PORTARIUM_FAMILIES_H

#include <stdbool.h>
#include <stddef.h>

/** The name of the i-th family, NULL behind the last. */
const char *portarium_family_name(size_t index);

/** True when there is a family of that name. */
bool portarium_family_exists(const char *name);

/** The i-th capability of a family ("ticket:write") as a text of `*length` bytes, which no NUL
 *  follows; NULL behind the last, and for an unknown family. */
const char *portarium_family_capability(const char *family, size_t index, size_t *length);

/** True when the capability belongs to the family. */
bool portarium_family_has(const char *family, const char *capability);

/** True for "entity:verb": one colon, no white space, neither part empty. */
bool portarium_is_operation(const char *text);

#endif

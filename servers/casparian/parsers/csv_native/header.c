/*
 * header.c - names of columns: not empty, and no two that differ in nothing but case.
 *
 * The outputs of casparian do not tell such names apart, so the second `id` is `id_2`. A name that
 * casparian reserves for a plugin's own columns counts as taken.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parsers/csv_native/header.h"
#include "parsers/input/name.h"

static bool is_taken(const struct casparian_csv_header *header, const char *name)
{
    if (strcasecmp(name, "__cf_row_id") == 0 || strcasecmp(name, "_cf_row_error") == 0)
        return true;
    for (size_t i = 0; i < header->count; i++)
        if (strcasecmp(header->names[i], name) == 0)
            return true;
    return false;
}

/* Append a column of that name, or of that name with a number that makes it unique. */
static const char *append(struct casparian_csv_header *header, const char *wanted)
{
    char name[CASPARIAN_NAME_MAX + 16];

    snprintf(name, sizeof name, "%s", wanted);
    for (unsigned number = 2; is_taken(header, name); number++)
        snprintf(name, sizeof name, "%s_%u", wanted, number);
    if (strlen(name) > CASPARIAN_NAME_MAX)
        return "the name of a column is longer than 128 bytes";
    size_t index = cf_column_add(header->rows, name, strlen(name));
    char *copy = index == CF_NO_COLUMN ? NULL : strdup(name);
    if (!copy)
        return "out of memory for the columns";
    header->names[header->count] = copy;
    header->indexes[header->count++] = index;
    return NULL;
}

static const char *append_number(struct casparian_csv_header *header, const char *stem,
                                 size_t number)
{
    char name[32];

    snprintf(name, sizeof name, "%s%zu", stem, number);
    return append(header, name);
}

const char *casparian_csv_header_add(struct casparian_csv_header *header, const char *name,
                                     size_t length)
{
    char text[CASPARIAN_NAME_MAX + 1];
    const char *reason = NULL;

    if (header->count == CF_COLUMNS_MAX)
        return "the first record has more than 2000 columns";
    if (!header->is_named || length == 0) {
        reason = append_number(header, "c", header->count + 1);
    } else {
        reason = casparian_name_copy(text, &length, name, length);
        if (!reason)
            reason = append(header, text);
    }
    if (!reason)
        header->named++;
    return reason;
}

size_t casparian_csv_header_column(struct casparian_csv_header *header, size_t cell)
{
    while (cell >= header->count && header->count < CF_COLUMNS_MAX) {
        const char *reason = header->is_named ? append_number(header, "extra_",
                                                              header->count + 1 - header->named)
                                              : append_number(header, "c", header->count + 1);
        if (reason)
            return CF_NO_COLUMN;
    }
    return cell < header->count ? header->indexes[cell] : CF_NO_COLUMN;
}

void casparian_csv_header_clear(struct casparian_csv_header *header)
{
    for (size_t i = 0; i < header->count; i++)
        free(header->names[i]);
    header->count = header->named = 0;
}

/*
 * condition.c - entity tags and the versions that they stand for.
 */
#include "rest/condition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "page/tags.h"
#include "rest/rest.h"

enum { TRIES = 16 };

/* ---- tags ------------------------------------------------------------------------------------ */

void universe_tag_of(char out[UNIVERSE_TAG_SIZE], int64_t version)
{
    snprintf(out, UNIVERSE_TAG_SIZE, "\"v%lld\"", (long long)version);
}

/* The newest of our versions that the list names; -1: it names none. */
static int64_t newest_of(const char *list)
{
    page_tag one;
    bool broken = false;
    int64_t newest = -1;

    while (page_tags_next(&one, &list, &broken)) {
        char *end = NULL;
        if (one.is_weak || one.length < 4 || one.text[1] != 'v' || one.text[2] < '0' ||
            one.text[2] > '9')
            continue;
        errno = 0;
        long long version = strtoll(one.text + 2, &end, 10);
        if (errno == 0 && end == one.text + one.length - 1 && version > newest)
            newest = version;
    }
    return newest;
}

/* ---- conditions ------------------------------------------------------------------------------ */

bool universe_condition_holds(const universe_condition *when, int64_t version)
{
    char tag[UNIVERSE_TAG_SIZE];
    if (!when->match && !when->none_match)
        return when->expected == UNIVERSE_ANY_VERSION || when->expected == version;
    universe_tag_of(tag, version);
    if (when->match && page_tags_find(when->match, tag, true) != PAGE_TAGS_WITH)
        return false;
    return !when->none_match || page_tags_find(when->none_match, tag, false) != PAGE_TAGS_WITH;
}

/* The version that it meets now is the first to be tried, where the fields name none or it must not
 * be one. */
static bool meet_present(universe_condition *when, mcp_call *call, const universe_app *app,
                         const char *id)
{
    universe_record record = { 0 };
    mcp_error err = MCP_ERROR_INIT;
    universe_result result = { .answer = UNIVERSE_CONFLICT };

    mcp_status st = universe_service_record(&record, app->service, id, mcp_call_arena(call), &err);
    if (st != MCP_OK) {
        universe_rest_failed(call, id, st, &err);
        return false;
    }
    when->expected = record.version;
    if (universe_condition_holds(when, record.version))
        return true;
    result.current.record.version = record.version;
    universe_rest_result(call, app, id, &result, UNIVERSE_ANY_VERSION, when->http_status);
    return false;
}

bool universe_condition_read(universe_condition *out, mcp_call *call, const universe_app *app,
                             const char *id)
{
    *out = (universe_condition){ .match = mcp_call_header(call, "If-Match"),
                                 .none_match = mcp_call_header(call, "If-None-Match"),
                                 .expected = UNIVERSE_ANY_VERSION,
                                 .http_status = 409,
                                 .tries = TRIES };
    if (!out->match && !out->none_match)
        return universe_rest_int(call, "expectedVersion", UNIVERSE_ANY_VERSION, 0, INT64_MAX,
                                 &out->expected);
    out->http_status = 412;
    const char *fields[] = { out->match, out->none_match };
    for (size_t i = 0; i < 2; i++) {
        if (fields[i] && page_tags_find(fields[i], "", true) == PAGE_TAGS_BROKEN) {
            universe_rest_error(call, 412, id, "%s holds ETags, \"v12\" in quotes, or *",
                                i == 0 ? "If-Match" : "If-None-Match");
            return false;
        }
    }
    if (out->match && !out->none_match && page_tags_are_any(out->match))
        return true;
    if (out->match && !out->none_match)
        out->expected = newest_of(out->match);
    return out->expected >= 0 || meet_present(out, call, app, id);
}

bool universe_condition_again(universe_condition *when, universe_result *result)
{
    int64_t version = result->current.record.version;
    bool would_do = result->answer == UNIVERSE_CONFLICT && (when->match || when->none_match) &&
                    universe_condition_holds(when, version);
    if (!would_do || --when->tries <= 0)
        return false;
    when->expected = version;
    universe_view_free(result->current.view);
    *result = (universe_result){ 0 };
    return true;
}

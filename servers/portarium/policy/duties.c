/*
 * duties.c - the kinds of separation of duties: a row each, with its reader and its test.
 */
#include "policy/duties.h"

#include <string.h>

static bool has_text(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

static bool breaks_maker_checker(const portarium_duty *duty, const portarium_duty_facts *facts)
{
    (void)duty;
    return has_text(facts->requesters, facts->requester_count, facts->decider_id);
}

static bool breaks_distinct(const portarium_duty *duty, const portarium_duty_facts *facts)
{
    (void)duty;
    return has_text(facts->approvers, facts->approver_count, facts->decider_id);
}

/* Two different duties of the list by one person, the one about to be done among them. */
static bool breaks_incompatible(const portarium_duty *duty, const portarium_duty_facts *facts)
{
    const char *now = facts->duty_key ? facts->duty_key : "approval:submit";

    if (!has_text(duty->words, duty->word_count, now))
        return false;
    for (size_t i = 0; i < facts->deed_count; i++) {
        const portarium_deed *deed = &facts->deeds[i];
        if (strcmp(deed->user_id, facts->decider_id) == 0 && strcmp(deed->duty_key, now) != 0 &&
            has_text(duty->words, duty->word_count, deed->duty_key))
            return true;
    }
    return false;
}

static bool breaks_specialist(const portarium_duty *duty, const portarium_duty_facts *facts)
{
    for (size_t i = 0; i < facts->decider_role_count; i++)
        if (has_text(duty->words, duty->word_count, facts->decider_roles[i]))
            return false;
    return true;
}

static const struct {
    const char *name;
    const char *words; /* the member that has them */
    bool (*is_violated)(const portarium_duty *duty, const portarium_duty_facts *facts);
} kinds[] = {
    [PORTARIUM_DUTY_MAKER_CHECKER] = { "MakerChecker", NULL, breaks_maker_checker },
    [PORTARIUM_DUTY_DISTINCT_APPROVERS] = { "DistinctApprovers", NULL, breaks_distinct },
    [PORTARIUM_DUTY_INCOMPATIBLE_DUTIES] = { "IncompatibleDuties", "dutyKeys",
                                             breaks_incompatible },
    [PORTARIUM_DUTY_SPECIALIST_APPROVAL] = { "SpecialistApproval", "requiredRoles",
                                             breaks_specialist },
};

enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

const char *portarium_duty_kind_text(portarium_duty_kind kind)
{
    return kinds[kind].name;
}

static mcp_status read_words(portarium_duty *out, mcp_arena *arena, const mcp_json *list,
                             mcp_error *err)
{
    size_t count = mcp_json_count(list);
    const char **words = mcp_arena_array(arena, count + 1, sizeof *words);

    if (!words)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a policy");
    for (size_t i = 0; i < count; i++)
        words[i] = mcp_json_string(mcp_json_item(list, i), NULL);
    out->words = words;
    out->word_count = count;
    return MCP_OK;
}

mcp_status portarium_duties_read(const portarium_duty **out, size_t *count, mcp_arena *arena,
                                 const mcp_json *list, const char *place, portarium_fields *fields,
                                 mcp_error *err)
{
    size_t length = mcp_json_count(list);
    portarium_duty *duties = mcp_arena_array(arena, length + 1, sizeof *duties);

    if (!duties)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a policy");
    for (size_t i = 0; i < length; i++) {
        const mcp_json *source = mcp_json_item(list, i);
        const char *name = mcp_json_get_string(source, "kind");
        int64_t minimum = 1;
        size_t kind = 0;
        while (kind < KIND_COUNT && strcmp(kinds[kind].name, name) != 0)
            kind++;
        if (kind == KIND_COUNT) {
            const char *item = portarium_fields_index(fields, place, i);
            portarium_fields_add(fields, portarium_fields_at(fields, item, "kind"),
                                 "%s is not served", name);
            continue;
        }
        mcp_json_int(mcp_json_get(source, "minimumApprovers"), &minimum);
        duties[i].kind = (portarium_duty_kind)kind;
        duties[i].minimum_approvers = (size_t)minimum;
        duties[i].rationale = mcp_json_get_string(source, "rationale");
        const mcp_json *words = kinds[kind].words ? mcp_json_get(source, kinds[kind].words) : NULL;
        mcp_status st = read_words(&duties[i], arena, words, err);
        if (st != MCP_OK)
            return st;
    }
    *out = duties;
    *count = length;
    return MCP_OK;
}

bool portarium_duty_is_violated(const portarium_duty *duty, const portarium_duty_facts *facts)
{
    return kinds[duty->kind].is_violated(duty, facts);
}

const portarium_duty *portarium_duties_violated(const portarium_duty *duties, size_t count,
                                                const portarium_duty_facts *facts)
{
    static const portarium_duty maker_checker = { .kind = PORTARIUM_DUTY_MAKER_CHECKER };

    if (portarium_duty_is_violated(&maker_checker, facts))
        return &maker_checker;
    for (size_t i = 0; i < count; i++)
        if (portarium_duty_is_violated(&duties[i], facts))
            return &duties[i];
    return NULL;
}

size_t portarium_duties_approvers(const portarium_duty *duties, size_t count)
{
    size_t needed = 1;

    for (size_t i = 0; i < count; i++)
        if (duties[i].kind == PORTARIUM_DUTY_DISTINCT_APPROVERS &&
            duties[i].minimum_approvers > needed)
            needed = duties[i].minimum_approvers;
    return needed;
}

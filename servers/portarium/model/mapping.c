/*
 * mapping.c - the tables of words.
 */
#include "model/mapping.h"

#include <string.h>

#define BIT(name) (1u << PORTARIUM_WORK_ITEM_##name)

static const struct {
    const char *word;
    unsigned statuses;
} work_items[] = {
    { "pending", BIT(OPEN) },
    { "in-progress", BIT(IN_PROGRESS) },
    { "completed", BIT(RESOLVED) | BIT(CLOSED) },
    { "failed", BIT(BLOCKED) },
};

static const char *const heartbeats[] = {
    [PORTARIUM_HEARTBEAT_OK] = "healthy",
    [PORTARIUM_HEARTBEAT_DEGRADED] = "degraded",
    [PORTARIUM_HEARTBEAT_DRAINING] = "draining",
};

static const struct {
    const char *word;
    const char *capability;
} capabilities[] = {
    { "classify", "agent:classify" },  { "generate", "agent:generate" },
    { "analyze", "agent:analyze" },    { "execute-code", "code:execute" },
    { "notify", "notification:send" },
};

bool portarium_work_items_of(unsigned *out, const char *word, bool domain)
{
    portarium_work_item_status status;

    for (size_t i = 0; i < sizeof work_items / sizeof *work_items; i++)
        if (strcmp(work_items[i].word, word) == 0) {
            *out = work_items[i].statuses;
            return true;
        }
    if (!domain || !portarium_work_item_status_read(&status, word))
        return false;
    *out = 1u << status;
    return true;
}

const char *portarium_work_item_word(portarium_work_item_status status)
{
    size_t i = 0;

    while (!(work_items[i].statuses >> status & 1))
        i++;
    return work_items[i].word;
}

bool portarium_heartbeat_of(portarium_heartbeat *out, const char *word, bool domain)
{
    if (!word) {
        *out = PORTARIUM_HEARTBEAT_OK;
        return true;
    }
    for (size_t i = 0; i < sizeof heartbeats / sizeof *heartbeats; i++)
        if (strcmp(heartbeats[i], word) == 0) {
            *out = (portarium_heartbeat)i;
            return true;
        }
    return domain && portarium_heartbeat_read(out, word);
}

const char *portarium_heartbeat_word(portarium_heartbeat status)
{
    return heartbeats[status];
}

const char *portarium_capability_of(const char *word, mcp_arena *arena)
{
    if (strchr(word, ':'))
        return word;
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
        if (strcmp(capabilities[i].word, word) == 0)
            return capabilities[i].capability;
    return mcp_arena_printf(arena, "agent:%s", word);
}

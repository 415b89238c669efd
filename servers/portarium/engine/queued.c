/*
 * queued.c - a hash table of steps, by their run.
 */
#include "engine/queued.h"

#include <stddef.h>
#include <string.h>

#include "mcp/hash.h"

static size_t bucket_of(const portarium_queued_step *step)
{
    return mcp_fnv1a(step->run) % PORTARIUM_QUEUED_BUCKETS;
}

static bool are_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool portarium_queued_has(const portarium_queued *self, const portarium_queued_step *step)
{
    const portarium_queued_step *at = self->buckets[bucket_of(step)];
    for (; at; at = at->next) {
        if (strcmp(at->run, step->run) == 0 && strcmp(at->workspace, step->workspace) == 0 &&
            are_equal(at->action, step->action))
            return true;
    }
    return false;
}

void portarium_queued_add(portarium_queued *self, portarium_queued_step *step)
{
    portarium_queued_step **bucket = &self->buckets[bucket_of(step)];
    step->next = *bucket;
    *bucket = step;
}

void portarium_queued_remove(portarium_queued *self, const portarium_queued_step *step)
{
    for (portarium_queued_step **at = &self->buckets[bucket_of(step)]; *at; at = &(*at)->next) {
        if (*at == step) {
            *at = step->next;
            return;
        }
    }
}

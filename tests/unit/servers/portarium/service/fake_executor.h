/*
 * fake_executor.h - an executor that does as the input of its action says, in two kinds: one whose
 * system knows keys again, and one whose does not.
 */
#ifndef FAKE_EXECUTOR_H
#define FAKE_EXECUTOR_H

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "executors/executor.h"

static atomic_int calls, blocked, stops, secrets, held;

static void fake_perform(portarium_result *out, const portarium_attempt *attempt,
                         const portarium_stop *stop, mcp_arena *arena, void *data)
{
    const char *mode = mcp_json_get_string(attempt->input, "mode");
    int call = atomic_fetch_add(&calls, 1);
    (void)arena, (void)data;
    *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_DONE, .output = attempt->input };
    while (strcmp(mode, "held-unknown") == 0 && atomic_load(&held) > 0 && !stop->is_set(stop->data))
        usleep(5000);
    if (strstr(mode, "unknown") && attempt->attempt == 1)
        *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_UNKNOWN,
                                   .error_class = PORTARIUM_CLASS_TIMEOUT,
                                   .message = "no answer" };
    while (strcmp(mode, "held") == 0 && atomic_load(&held) > 0 && !stop->is_set(stop->data))
        usleep(5000);
    if ((strcmp(mode, "flaky") == 0 || strcmp(mode, "held") == 0) && attempt->attempt == 1)
        *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_FAILED,
                                   .error_class = PORTARIUM_CLASS_RATE_LIMIT,
                                   .message = "slower",
                                   .retry_after_ms = 20 };
    const char *secret = mcp_json_get_string(attempt->input, "token");
    if (secret && strcmp(secret, "Bearer canary-7781") == 0)
        atomic_fetch_add(&secrets, 1);
    if (strcmp(mode, "long") == 0) {
        char *text = mcp_arena_alloc(arena, (2 << 20) + 3);
        memset(text, 'x', (2 << 20) + 2);
        text[0] = text[(2 << 20) + 1] = '"';
        text[(2 << 20) + 2] = '\0';
        mcp_json_read(&out->output, arena, text, strlen(text), NULL);
    }
    if (strcmp(mode, "ids") == 0) {
        static const char text[] = "{\"id\":1234567890123456789,\"list\":[-9007199254740993,"
                                   "9007199254740991,1.5],\"text\":\"a\\uffffb\",\"\\ufdd0\":1}";
        mcp_json_read(&out->output, arena, text, sizeof text - 1, NULL);
    }
    if (strcmp(mode, "deep") == 0) {
        char *text = mcp_arena_alloc(arena, 121);
        memset(text, '[', 60);
        memset(text + 60, ']', 60);
        text[120] = '\0';
        mcp_json_read(&out->output, arena, text, 120, NULL);
    }
    if (strcmp(mode, "refuse") == 0)
        *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_FAILED,
                                   .error_class = PORTARIUM_CLASS_VALIDATION,
                                   .message = "refused" };
    if (strcmp(mode, "block") == 0)
        atomic_fetch_add(&blocked, 1);
    while (strcmp(mode, "block") == 0 ||
           (strcmp(mode, "block-first") == 0 && attempt->attempt == 1)) {
        if (stop->is_set(stop->data)) {
            atomic_fetch_add(&stops, 1);
            break;
        }
        usleep(5000);
    }
    (void)call;
}

static bool never(const mcp_json *binding)
{
    (void)binding;
    return false;
}

static bool always(const mcp_json *binding)
{
    (void)binding;
    return true;
}

static const portarium_executor fake = { .kind = "fake",
                                         .perform = fake_perform,
                                         .is_idempotent = never };
static const portarium_executor repeatable = { .kind = "repeatable",
                                               .perform = fake_perform,
                                               .is_idempotent = always };
static const portarium_executors executors = { .items = { { &fake, NULL }, { &repeatable, NULL } },
                                               .count = 2 };

#endif

/*
 * rig.h - plugins of a test, run over files of a scratch folder, with what they gave as text.
 */
#ifndef RIG_H
#define RIG_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "check/text.h"
#include "mcp/clock.h"
#include "plugins/guest.h"
#include "plugins/metadata.h"
#include "scratch.h"

typedef struct rig {
    scratch folder;
    mcp_arena *arena;
    casparian_plugin plugin;
    casparian_guest_options options;
    const char *inputs[1];
    casparian_guest *guest;
    casparian_guest_outcome outcome;
    mcp_buf rows; /* "output: name=value ..." a row */
    mcp_buf log;  /* "level: text" a line */
    const char *outputs[8];
    bool stops; /* the caller cancels */
    int64_t row_limit;
} rig;

static inline const char *rig_python(mcp_arena *arena)
{
    const char *python = NULL;
    mcp_error err = MCP_ERROR_INIT;
    if (casparian_python_find(&python, arena, NULL, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return python;
}

/* A folder with `plugin/`, `inputs/one.txt` and `scratch/`. */
static inline void rig_open(rig *self)
{
    memset(self, 0, sizeof *self);
    scratch_open(&self->folder);
    self->arena = mcp_arena_new(0);
    scratch_write(&self->folder, "inputs/one.txt", "alpha\nbeta\n", 11);
    scratch_write(&self->folder, "inputs/two.txt", "secret\n", 7);
    scratch_write(&self->folder, "scratch/.keep", "", 0);
    mcp_buf_init(&self->rows, 16 << 20);
    mcp_buf_init(&self->log, 16 << 20);
    const char *inputs = mcp_arena_strdup(self->arena, scratch_path(&self->folder, "inputs"));
    self->inputs[0] = inputs;
    self->options = (casparian_guest_options){
        .job_id = "7",
        .scratch_dir = mcp_arena_strdup(self->arena, scratch_path(&self->folder, "scratch")),
        .inputs = self->inputs,
        .input_count = 1,
        .limits = { .start_timeout_ms = 60000,
                    .idle_timeout_ms = 60000,
                    .file_timeout_ms = 120000 },
    };
}

/* The plugin is this module. */
static inline void rig_module(rig *self, const char *source)
{
    scratch_write(&self->folder, "plugin/demo.py", source, strlen(source));
    self->plugin = (casparian_plugin){
        .id = "demo",
        .version = "1.0.0",
        .display = "demo@1.0.0",
        .runtime = CASPARIAN_PYTHON,
        .origin = CASPARIAN_DEV,
        .dir = mcp_arena_strdup(self->arena, scratch_path(&self->folder, "plugin")),
        .entrypoint = mcp_arena_strdup(self->arena, scratch_path(&self->folder, "plugin/demo.py")),
        .python = rig_python(self->arena),
        .outputs = self->outputs,
        .default_output = "demo",
    };
}

static inline mcp_status rig_on_output(void *data, const char *output, mcp_error *err)
{
    rig *self = data;
    (void)err;
    mcp_buf_printf(&self->rows, "[%s]\n", output);
    return MCP_OK;
}

static inline void rig_cell(rig *self, const casparian_vector *vector, size_t row)
{
    casparian_cell cell = casparian_vector_cell(vector, row);
    if (cell.is_absent)
        return;
    mcp_buf_printf(&self->rows, " %s=", vector->name);
    if (cell.kind == CASPARIAN_KIND_NULL) {
        mcp_buf_puts(&self->rows, "null");
        return;
    }
    mcp_buf_printf(&self->rows, "%s:", casparian_kind_text(cell.kind));
    casparian_text_append(&self->rows, &cell, NULL);
}

static inline mcp_status rig_on_batch(void *data, const char *output, const casparian_batch *batch,
                                      mcp_error *err)
{
    rig *self = data;
    (void)err;
    for (size_t row = 0; row < batch->rows && self->rows.length < 1 << 20; row++) {
        mcp_buf_printf(&self->rows, "%s:", output);
        for (size_t i = 0; i < batch->count; i++)
            rig_cell(self, &batch->columns[i], row);
        mcp_buf_putc(&self->rows, '\n');
    }
    return MCP_OK;
}

static inline void rig_on_log(void *data, casparian_log_level level, const char *text,
                              size_t length)
{
    rig *self = data;
    if (self->log.length < 1 << 20)
        mcp_buf_printf(&self->log, "%d: %.*s\n", (int)level, (int)length, text);
}

static inline bool rig_should_stop(void *data)
{
    return ((rig *)data)->stops;
}

/* Parse a file of `inputs/`, with the guest of before if there is one. */
static inline void rig_parse(rig *self, const char *name)
{
    char relative[64];
    mcp_error err = MCP_ERROR_INIT;
    snprintf(relative, sizeof relative, "inputs/%s", name);
    const char *path = scratch_path(&self->folder, relative);
    casparian_guest_file file = { .path = path,
                                  .fd = open(path, O_RDONLY | O_CLOEXEC),
                                  .file_id = "3",
                                  .row_limit = self->row_limit,
                                  .should_stop = rig_should_stop,
                                  .data = self };
    casparian_guest_events events = {
        .output = rig_on_output, .batch = rig_on_batch, .log = rig_on_log, .data = self
    };
    mcp_buf_reset(&self->rows);
    mcp_buf_reset(&self->log);
    assert_true(file.fd >= 0);
    if (!self->guest &&
        casparian_guest_new(&self->guest, &self->plugin, &self->options, &err) != MCP_OK)
        fail_msg("%s", err.message);
    if (casparian_guest_parse(&self->outcome, self->guest, &file, &events, &err) != MCP_OK)
        fail_msg("%s", err.message);
    close(file.fd);
}

static inline const char *rig_rows(const rig *self)
{
    return self->rows.length ? self->rows.data : "";
}

static inline const char *rig_log(const rig *self)
{
    return self->log.length ? self->log.data : "";
}

/* The file failed in this way; the log helps where it did not. */
static inline void rig_expect(const rig *self, casparian_failure failure)
{
    if (self->outcome.failure != failure)
        fail_msg("%s instead of %s: %s\n%s\n%.2000s", casparian_failure_text(self->outcome.failure),
                 casparian_failure_text(failure), self->outcome.error, self->outcome.traceback,
                 rig_log(self));
}

/* The module gives these rows of its file. */
static inline void rig_gives(rig *self, const char *source, const char *rows)
{
    rig_module(self, source);
    rig_parse(self, "one.txt");
    rig_expect(self, CASPARIAN_FAILURE_NONE);
    assert_string_equal(rig_rows(self), rows);
}

static inline void rig_close(rig *self)
{
    casparian_guest_free(self->guest);
    mcp_buf_clear(&self->rows);
    mcp_buf_clear(&self->log);
    mcp_arena_free(self->arena);
    scratch_close(&self->folder);
}

#endif

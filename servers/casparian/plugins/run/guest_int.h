/*
 * guest_int.h - the body of a guest, for guest.c, python.c and native.c.
 */
#ifndef CASPARIAN_PLUGINS_RUN_GUEST_INT_H
#define CASPARIAN_PLUGINS_RUN_GUEST_INT_H

#include "plugins/guest.h"
#include "plugins/run/frames.h"
#include "plugins/run/intake.h"
#include "plugins/run/sandbox.h"
#include "plugins/run/scratch.h"

struct casparian_guest {
    mcp_arena *arena; /* pays for what was copied */
    casparian_plugin plugin;
    casparian_guest_options options; /* with complete limits */
    casparian_protections protections;
    const char *scratch; /* NULL: not made yet */
    const char *copy;    /* the folder of the copy that is run; NULL: there is none */
    const char *dir;     /* of the plugin itself */

    /* Of a native plugin: the hashes of its declared outputs, by `plugin.outputs`. */
    char (*schema_hashes)[CASPARIAN_HASH_SIZE]; /* "": none is declared */

    /* Of a Python plugin: the interpreter, which lives from file to file. */
    proc *child;              /* NULL: not started */
    int channel;              /* our end of its socket; -1 */
    casparian_frames answers; /* that come through it */
    mcp_buf filter;           /* the seccomp program of a file */
    bool is_loaded;           /* it has answered `load` */
    mcp_buf load_error;       /* JSON of an import that failed: it fails for every file */
};

/* Run one file, by the runtime. The intake has the result. */
void casparian_python_parse(casparian_guest *self, const casparian_guest_file *file,
                            casparian_intake *intake);
void casparian_native_parse(casparian_guest *self, const casparian_guest_file *file,
                            casparian_intake *intake);

/* End the interpreter of a Python plugin. */
void casparian_python_end(casparian_guest *self);

/* How long one waits for the next bytes before the clock and the caller are asked again. */
enum { CASPARIAN_POLL_MS = 50 };

/* When a file must be at its end. */
int64_t casparian_guest_deadline(const casparian_guest *self, const casparian_guest_file *file);

/* Ask what can end a file from outside: the caller, the clock, the size of the scratch folder.
 * Sets the failure. @param measured_ms when the folder was measured last; 0 at first */
void casparian_guest_watch(casparian_guest *self, const casparian_guest_file *file,
                           casparian_intake *intake, int64_t deadline_ms, int64_t *measured_ms);

/* Read what a standard stream has. @return false: it is at its end */
bool casparian_guest_read_log(proc *child, proc_stream stream, casparian_intake *intake,
                              casparian_lines *lines);

/* Say of a process that ended without an answer how it ended. */
void casparian_guest_fail_end(casparian_intake *intake, int exit_code, int signal_number);

/* Stop a process that failed: softly where the caller cancelled, else at once. */
void casparian_guest_stop(proc *child, casparian_failure failure);

#endif

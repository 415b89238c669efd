/**
 * plugin.h - a plugin as it was found: what it is called, where it is, what it declares, and
 * whether it may run.
 *
 * The registry (plugins/registry.h) fills it in, without running code of the plugin. It never
 * changes then; its strings are in the arena of the one who asked.
 */
#ifndef CASPARIAN_PLUGINS_PLUGIN_H
#define CASPARIAN_PLUGINS_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/definition.h"

/** Longest id of a plugin, `^[a-z][a-z0-9_]*$`. */
#define CASPARIAN_PLUGIN_ID_MAX 63

/** What runs a plugin. */
typedef enum casparian_runtime {
    CASPARIAN_PYTHON, /* a module; "python" */
    CASPARIAN_NATIVE  /* a program; "native" */
} casparian_runtime;

/** Where a plugin was found. */
typedef enum casparian_origin {
    CASPARIAN_SHIPPED,   /* with casparian; "shipped" */
    CASPARIAN_INSTALLED, /* in the home folder, by `casparian plugin import`; "installed" */
    CASPARIAN_DEV        /* a file or folder of somebody who is writing it; "dev" */
} casparian_origin;

/** How much of a Python plugin lives from one file to the next. */
typedef enum casparian_isolation {
    CASPARIAN_PER_FILE, /* the module is imported once, each file has a process of its own */
    CASPARIAN_PER_JOB,  /* one process: the module keeps its state */
    CASPARIAN_PER_EXEC  /* a new interpreter for each file, for modules that a fork breaks */
} casparian_isolation;

/** What the configuration says of one plugin: the table [plugins.<id>]. */
typedef struct casparian_plugin_settings {
    const char *id;
    const char *const *patterns; /* globs of the files that it is for; NULL: all */
    size_t pattern_count;
    const char *const *env; /* "NAME=value", added to its environment */
    size_t env_count;
    casparian_isolation isolation;
    bool may_start_processes; /* `processes = true`: fork and execve are not denied to it */
    int64_t memory_limit_mb;  /* 0: that of [plugins] */
} casparian_plugin_settings;

/** A plugin. */
typedef struct casparian_plugin {
    const char *id, *version;
    const char *display; /* "id@version"; of a dev plugin the path as it was given */
    casparian_runtime runtime;
    casparian_origin origin;
    const char *dir;        /* absolute: its own folder, which it may read */
    const char *entrypoint; /* absolute: the module or the program */
    bool is_module;         /* one module without casparian.toml */
    const char *host;       /* absolute: the program that loads an entrypoint that is a shared
                               library; NULL: the entrypoint is no such */
    const char *python;     /* absolute: the interpreter of a Python plugin; NULL: none was found */
    char artifact_hash[CASPARIAN_HASH_SIZE]; /* of its code, manifest and schemas (data, 9.5) */

    const char *const *topics;
    size_t topic_count;
    const char *const *outputs; /* the names that it declares; it may emit others */
    size_t output_count;
    const char *default_output;
    casparian_schemas schemas; /* of the outputs whose columns it declares */

    bool is_trusted;    /* it may run */
    bool is_modified;   /* it is installed, and its files are not those that were imported */
    bool is_unsigned;   /* it runs, or would, without a signature: each run is logged */
    const char *reason; /* why it may run, or why not and what a human can set; a sentence */
    const char *signer; /* whose signature counts; NULL: nobody's */

    bool has_incomplete_metadata;       /* a declaration is not a literal; it cannot be imported */
    const char *const *import_warnings; /* "imports subprocess", "the version is no literal" */
    size_t import_warning_count;

    casparian_plugin_settings settings;
} casparian_plugin;

/** "python" or "native". */
const char *casparian_runtime_text(casparian_runtime runtime);

/** "shipped", "installed" or "dev". */
const char *casparian_origin_text(casparian_origin origin);

/** Whether a text is an id of a plugin, or the name of an output: they have the same form. */
bool casparian_plugin_id_is_valid(const char *id);

/**
 * Find the program that loads a native plugin that is a shared library (*.so).
 *
 * @param out     in the arena; NULL: the entrypoint is a program
 * @param shipped the folder of the plugins that ship, which is next to that of the program; or NULL
 * @return MCP_OK; MCP_E_UNSUPPORTED: it is not installed; MCP_E_NOMEM
 */
mcp_status casparian_plugin_host(const char **out, mcp_arena *arena, const char *entrypoint,
                                 const char *shipped, mcp_error *err);

/**
 * Compare versions as Semantic Versioning 2.0 orders them (section 11).
 *
 * @return < 0, 0, > 0; a text that is no version comes before all that are, and such texts are
 *         ordered by their bytes
 */
int casparian_version_compare(const char *a, const char *b);

/** Whether a text is a version of Semantic Versioning 2.0. */
bool casparian_version_is_valid(const char *version);

/** Whether a version is a prerelease, as in "1.0.0-rc.1". */
bool casparian_version_is_prerelease(const char *version);

#endif

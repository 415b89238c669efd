/**
 * settings.h - the settings of jobs, approvals, quarantine, ephemeral schemas and plugins.
 *
 * The shell fills it from config.toml, whose tables and keys have these names. It is read-only
 * while anything uses it, and outlives that; so do its strings.
 */
#ifndef CASPARIAN_JOBS_SETTINGS_H
#define CASPARIAN_JOBS_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugins/plugin.h"

/** [jobs] */
typedef struct casparian_jobs_settings {
    int max_concurrent;        /* running jobs in all processes; 0: 1, at most 8 */
    int max_queued;            /* 0: 100 */
    int64_t timeout_ms;        /* of a job, from its start; 0: 1,800,000 */
    int64_t stall_ms;          /* silence after which a job counts as stalled; 0: 30,000 */
    int64_t ttl_hours;         /* how long jobs that have ended are kept; 0: 24 */
    bool fails_on_file_error;  /* on_file_error = "fail": the first failed file fails the job */
    int64_t shutdown_grace_ms; /* 0: 2,000 */
    int64_t lease_ms;          /* of a claim that is not renewed; 0: 45,000. Not in config.toml */
} casparian_jobs_settings;

/** [approvals] */
typedef struct casparian_approvals_settings {
    int64_t ttl_s;          /* how long a request may be decided; 0: 3,600 */
    int64_t retention_days; /* how long decided ones are kept; 0: 7 */
} casparian_approvals_settings;

/** [quarantine]. `has_` tells a value from an absent key. */
typedef struct casparian_quarantine_settings {
    bool allow_quarantine;
    bool has_pct;
    double max_quarantine_pct; /* absent: 10 */
    bool has_count;
    int64_t max_quarantine_count; /* absent: no limit */
    const char *dir;              /* NULL: that of the output */
} casparian_quarantine_settings;

/** [plugins] */
typedef struct casparian_plugins_settings {
    const char *python; /* NULL: "python3" */
    const char *const *dev_paths;
    size_t dev_path_count;
    const char *sandbox;      /* "best_effort", "required" or "off"; NULL: "best_effort" */
    int64_t memory_limit_mb;  /* 0: 2,048 */
    int64_t start_timeout_ms; /* 0: 30,000 */
    int64_t idle_timeout_ms;  /* 0: 300,000 */
    int64_t file_timeout_ms;  /* 0: 600,000 */
    int64_t scratch_mb;       /* 0: 64 */
    int64_t output_max_mb;    /* 0: 10,240 */
    const casparian_plugin_settings *each; /* [plugins.<id>] */
    size_t count;
} casparian_plugins_settings;

/** All of them. Zero is the default of every field. */
typedef struct casparian_settings {
    casparian_jobs_settings jobs;
    casparian_approvals_settings approvals;
    casparian_quarantine_settings quarantine;
    casparian_plugins_settings plugins;
    int64_t ephemeral_ttl_days; /* 0: 7 */
} casparian_settings;

/** The memory of a plugin's processes, in MiB. */
int64_t casparian_settings_memory_mb(const casparian_settings *settings, const char *plugin);

#endif

/*
 * plan.h - what the caller and the launcher say to each other.
 *
 * The caller sends one message with descriptors: a file that holds the plan, then the child's
 * descriptors. The plan's header is followed by the seccomp program and the strings: the working
 * directory, the arguments, the environment, each with its NUL. The launcher answers with reports.
 * Both are of one build, so structs cross as they are.
 */
#ifndef PROC_PLAN_H
#define PROC_PLAN_H

#include <stdint.h>

#include "proc/proc.h"

enum {
    PLAN_FDS_MAX = PROC_FDS_MAX + 3, /* of the child */
    PLAN_FD_MAX = 63,                /* the largest number of one in the child */
    PLAN_STRINGS_MAX = 1 << 20,
    PLAN_FILTER_MAX = 4096 * 8,                 /* bytes; the kernel takes no more instructions */
    PLAN_MESSAGE_FDS_MAX = 1 + PLAN_FDS_MAX + 1 /* the plan, the child's, the rules */
};

typedef struct proc_plan {
    uint32_t length; /* of the whole plan */
    uint32_t argc, envc;
    uint32_t fd_count;           /* of the child */
    int32_t fd_as[PLAN_FDS_MAX]; /* numbers in the child, in the order of the message */
    int64_t timeout_ms;          /* 0: none */
    int64_t grace_ms;
    proc_limits limits;
    uint32_t protect, required;
    uint32_t filter_length; /* bytes; 0: none */
    bool has_ruleset;       /* its descriptor follows those of the child */
    bool is_trial;          /* no program: end where it would run */
    bool may_read_all_files;
    uid_t uid;
    gid_t gid;
} proc_plan;

/* Orders of the caller, one byte each. The end of the socket is PLAN_KILL. */
enum { PLAN_STOP = 'T', PLAN_KILL = 'K' };

/* Where a start failed. */
typedef enum plan_stage {
    STAGE_PLAN,
    STAGE_FORK,
    STAGE_DESCRIPTORS,
    STAGE_LIMITS,
    STAGE_CWD,
    STAGE_USER, /* the user namespace is made and has no user */
    STAGE_IDENTITY,
    STAGE_PROTECT, /* `held` lacks what is required */
    STAGE_EXEC
} plan_stage;

typedef enum plan_report_kind { REPORT_STARTED, REPORT_FAILED, REPORT_ENDED } plan_report_kind;

typedef struct plan_report {
    plan_report_kind kind;
    plan_stage stage;    /* FAILED */
    int32_t error;       /* FAILED: errno */
    uint32_t held;       /* STARTED, FAILED: the protections */
    pid_t launcher;      /* STARTED, FAILED: of the launcher itself */
    proc_how how;        /* ENDED: EXITED, SIGNALED, TIMED_OUT or STOPPED */
    int32_t wait_status; /* ENDED: as of waitpid */
    int64_t cpu_ms;
    int64_t memory_max_bytes;
} plan_report;

#endif

/*
 * store_int.h - what the functions of a store share.
 */
#ifndef CASPARIAN_JOBS_STORE_INT_H
#define CASPARIAN_JOBS_STORE_INT_H

#include "approvals/approvals.h"
#include "jobs/store.h"

struct casparian_store {
    db *database;
    char *home;
    casparian_store_options options; /* its strings are not kept */
    approvals *requests;             /* the statements of cf_api_approvals */
    jobs_waits *waits;               /* NULL: nobody waits */
    db_listener *listener;           /* ends the waits */
};

#endif

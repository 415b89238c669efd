/*
 * libpq.h - the functions of libpq, opened at first use.
 *
 * Linked, libpq would bring the libraries of Kerberos and LDAP into each start of a server, and
 * most servers keep their data in SQLite.
 */
#ifndef DB_POSTGRES_LIBPQ_H
#define DB_POSTGRES_LIBPQ_H

#include <libpq-fe.h>

#include "mcp/error.h"

#define PG_FUNCTIONS(X)                                                                            \
    X(PQbackendPID)                                                                                \
    X(PQclear)                                                                                     \
    X(PQcmdStatus)                                                                                 \
    X(PQcmdTuples)                                                                                 \
    X(PQconnectPoll)                                                                               \
    X(PQconnectStartParams)                                                                        \
    X(PQconninfoFree)                                                                              \
    X(PQconninfoParse)                                                                             \
    X(PQconsumeInput)                                                                              \
    X(PQenterPipelineMode)                                                                         \
    X(PQerrorMessage)                                                                              \
    X(PQexitPipelineMode)                                                                          \
    X(PQfinish)                                                                                    \
    X(PQflush)                                                                                     \
    X(PQfname)                                                                                     \
    X(PQfreemem)                                                                                   \
    X(PQftype)                                                                                     \
    X(PQgetResult)                                                                                 \
    X(PQgetisnull)                                                                                 \
    X(PQgetlength)                                                                                 \
    X(PQgetvalue)                                                                                  \
    X(PQisBusy)                                                                                    \
    X(PQlibVersion)                                                                                \
    X(PQnfields)                                                                                   \
    X(PQnotifies)                                                                                  \
    X(PQnparams)                                                                                   \
    X(PQntuples)                                                                                   \
    X(PQparamtype)                                                                                 \
    X(PQpipelineSync)                                                                              \
    X(PQresultErrorField)                                                                          \
    X(PQresultStatus)                                                                              \
    X(PQsendDescribePrepared)                                                                      \
    X(PQsendPrepare)                                                                               \
    X(PQsendQuery)                                                                                 \
    X(PQsendQueryParams)                                                                           \
    X(PQsendQueryPrepared)                                                                         \
    X(PQserverVersion)                                                                             \
    X(PQsetNoticeProcessor)                                                                        \
    X(PQsetSingleRowMode)                                                                          \
    X(PQsetnonblocking)                                                                            \
    X(PQsocket)                                                                                    \
    X(PQstatus)                                                                                    \
    X(PQtransactionStatus)

/* The functions under their own names. */
struct pg_functions {
#define X(name) __typeof__(name) *name;
    PG_FUNCTIONS(X)
#undef X
};

/* Empty until pg_lib_open has succeeded once; never changed after. */
extern struct pg_functions pg_lib;

/* @return MCP_OK; MCP_E_UNSUPPORTED: there is no libpq on this machine */
mcp_status pg_lib_open(mcp_error *err);

#endif

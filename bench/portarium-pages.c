/*
 * portarium-pages.c - portarium on SQLite with a million runs: the first and the thousandth page of
 * their list, in each order and with each filter; and the start on an empty database.
 *
 * The runs are put into the database by SQL, in the form in which the server stores them. Pages are
 * those of GET .../runs with the default number of runs; the thousandth is asked for by the id of
 * the last run of the page before. The start counts from the program's start to its first answer,
 * which is that a token is required; the file of the database is made meanwhile.
 *
 *     bench-portarium-pages [PROGRAM]     default: portarium of CAUSEWAY_BIN or build/bin
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/figures.h"
#include "support/plane.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    RUNS = BENCH(1000000, 12000),
    PAGE = 50,
    TURNS = BENCH(60, 2), /* requests of each page */
    BEFORE = BENCH(999, 9) * PAGE,
    TOKENS = 40, /* requests of one principal have a rate */
    STARTS = BENCH(7, 1),
    IDLE_S = BENCH(2, 1)
};

/* Each tenth run has failed, each third is of the other workflow. */
static const char insert[] =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) INSERT INTO runs "
    "(workspace, id, revision, created_at, json, status, workflow_id, started_at) SELECT 'ws-1', "
    "printf('run-%%08x-0000-4000-8000-000000000000', (i * 2654435761) %% 4294967296), 3, "
    "1767323045000 + i, printf('{\"schemaVersion\":1,\"runId\":"
    "\"run-%%08x-0000-4000-8000-000000000000\",\"workspaceId\":\"ws-1\",\"workflowId\":\"%%s\","
    "\"workflowVersion\":1,\"correlationId\":\"c54f32f4-c3c7-4975-b1cf-d65a5b4bcc6f\","
    "\"executionTier\":\"Auto\",\"initiatedByUserId\":\"ada\",\"status\":\"%%s\",\"createdAtIso\":"
    "\"2026-01-02T03:04:05.000Z\",\"parameters\":{\"n\":1}}', (i * 2654435761) %% 4294967296, "
    "iif(i %% 3 = 0, 'gate', 'noop'), iif(i %% 10 = 0, 'Failed', 'Succeeded')), iif(i %% 10 = 0, "
    "'Failed', 'Succeeded'), iif(i %% 3 = 0, 'gate', 'noop'), '2026-01-02T03:04:05.000Z' FROM n";

static const struct list {
    const char *query, *sql; /* the same order and filter */
} lists[] = {
    { "", "ORDER BY created_at DESC, id DESC" },
    { "&sort=createdAtIso:asc", "ORDER BY created_at, id" },
    { "&status=Succeeded", "AND status = 'Succeeded' ORDER BY created_at DESC, id DESC" },
    { "&workflowId=gate", "AND workflow_id = 'gate' ORDER BY created_at DESC, id DESC" },
    { "&status=Failed&workflowId=noop",
      "AND status = 'Failed' AND workflow_id = 'noop' ORDER BY created_at DESC, id DESC" },
};

static plane own;
static char tokens[TOKENS][PLANE_TOKEN_MAX];

static double ms_since(int64_t from)
{
    return (double)(bench_now_ns() - from) * 1e-6;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The page has PAGE runs. @return ms */
static double ask_page(client *by, const char *query, const char *cursor, int turn)
{
    static const char name[] = "\"runId\"";
    char request[CLIENT_ASK_MAX];
    int length = snprintf(request, sizeof request,
                          "GET /v1/workspaces/ws-1/runs?limit=%d%s%s%s HTTP/1.1\r\n"
                          "Host: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n",
                          PAGE, query, cursor ? "&cursor=" : "", cursor ? cursor : "",
                          by->site->port, tokens[turn % TOKENS]);
    int64_t from = bench_now_ns();
    reply it = client_ask(by, request, (size_t)length);
    double took = ms_since(from);
    const char *at = it.body, *end = it.body + it.body_length;
    int count = 0;

    for (at = memmem(at, (size_t)(end - at), name, sizeof name - 1); at;
         at = memmem(at + 1, (size_t)(end - at) - 1, name, sizeof name - 1))
        count++;
    if (it.status != 200 || count != PAGE)
        bench_give_up("a page of %s%s has %d runs: %.500s", query, cursor ? cursor : "", count,
                      by->answer);
    return took;
}

static void bench_page(client *by, const struct list *list, const char *cursor, double *worst)
{
    double took[TURNS];

    for (int i = 0; i < TURNS; i++)
        took[i] = ask_page(by, list->query, cursor, i);
    figures_sort(took, TURNS);
    double late = figures_at(took, TURNS, 0.95);
    printf(
        "portarium-pages %d runs, runs?limit=%d%s, page %d: median %.1f ms, 95 %% within %.1f ms "
        "(at most 20); load average %.1f\n",
        RUNS, PAGE, list->query, cursor ? BEFORE / PAGE + 1 : 1, figures_at(took, TURNS, 0.5), late,
        bench_load_average());
    *worst = late > *worst ? late : *worst;
}

static void bench_pages(void)
{
    char sql[sizeof insert + 16];
    double worst = 0;
    client by;

    plane_open(&own, 1, false);
    plane_tokens(tokens, TOKENS, &own);
    snprintf(sql, sizeof sql, insert, RUNS);
    int64_t from = bench_now_ns();
    plane_execute(&own, sql);
    printf("portarium-pages %d runs stored in %.1f s\n", RUNS, ms_since(from) * 1e-3);
    client_open(&by, plane_serve(&own));
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char query[256];
        snprintf(query, sizeof query,
                 "SELECT id FROM runs WHERE workspace = 'ws-1' %s LIMIT 1 OFFSET %d", lists[i].sql,
                 BEFORE - 1);
        char(*cursor)[PLANE_ID_MAX] = plane_texts(&own, query, 1);
        bench_page(&by, &lists[i], NULL, &worst);
        bench_page(&by, &lists[i], cursor[0], &worst);
        free(cursor);
    }
    printf("portarium-pages the slowest of them: 95 %% within %.1f ms (at most 20)\n", worst);
    client_close(&by);
    plane_close(&own);
}

/* ---- the start ------------------------------------------------------------------------------- */

static void bench_start(void)
{
    const struct timespec idle = { .tv_sec = IDLE_S };
    double took[STARTS], mb[STARTS];
    char request[CLIENT_ASK_MAX];

    for (int i = 0; i < STARTS; i++) {
        client by;
        plane_open(&own, 0, false);
        int64_t from = bench_now_ns();
        client_open(&by, plane_serve(&own));
        reply it = client_ask(&by, request, session_write(request, sizeof request, &by, "{}", 2));
        if (it.status != 401)
            bench_give_up("who has no token was answered by %.1000s", by.answer);
        took[i] = ms_since(from);
        nanosleep(&idle, NULL);
        mb[i] = (double)program_resident_kb(&own.sites[0].program) / 1024;
        client_close(&by);
        plane_close(&own);
    }
    figures_sort(took, STARTS);
    figures_sort(mb, STARTS);
    printf("portarium-pages from the start to the first answer: median %.1f ms, best %.1f (at most "
           "50); resident when idle %.1f MB (at most 25); load average %.1f\n",
           figures_at(took, STARTS, 0.5), took[0], figures_at(mb, STARTS, 0.5),
           bench_load_average());
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    alarm(BENCH(150, 280));
    plane_program(argc, argv);
    bench_start();
    bench_pages();
    return 0;
}

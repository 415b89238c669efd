/*
 * http.c - Streamable HTTP: calls per second, latency at a rate, memory, idle sessions and streams,
 * the time from start to first answer, and a message just below the limit.
 *
 * Measured are the tool `echo` of mcp-everything, which its loop runs (MCP_NONBLOCKING), and
 * `echo_by_worker`, which does the same on a worker, as most tools do. Two peers run in the same
 * rounds, so that other load on the machine affects all alike: the official TypeScript SDK's server
 * with the same tool, and nginx, which answers a fixed text and shows the cost of HTTP alone. A
 * missing nginx is reported. All clients run on one thread on the same machine; with few cores they
 * take their share from every server alike. Every answer is checked: its status, id and text.
 *
 * The long message is sent to a server of the bench's own, with a tool that answers a text's
 * length.
 *
 *     bench-http [PROGRAM]     default: mcp-everything of CAUSEWAY_BIN or build/bin
 */
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "mcp/mcp.h"

#include "support/figures.h"
#include "support/load.h"
#include "support/scale.h"
#include "support/session.h"

enum {
    BENCH_MAX_S = BENCH(175, 280),
    CLIENTS = BENCH(50, 4),
    ROUNDS = BENCH(5, 1),
    PACE = BENCH(20000, 200),
    PACED_CALLS = BENCH(20000, 20),
    PACED_ROUNDS = BENCH(3, 1),
    STARTS = BENCH(15, 1),
    PEER_STARTS = BENCH(3, 1),
    SESSIONS = BENCH(10000, 20),
    STREAMS = BENCH(5000, 10),
    ENDURANCE_CALLS = BENCH(1000000, 100),
    ENDURANCE_S = 30,
    LONG_MESSAGE = BENCH((4 << 20) - 1, 1 << 16),
    LONG_ROUNDS = BENCH(20, 2)
};

#define ROUND_S BENCH(0.7, 0.05)

static const char message[] = "The quick brown fox jumps over the lazy dog";

/* What is measured, and what came out. */
typedef struct subject {
    site site;
    void (*begin)(site *it);
    bool has_sessions;
    load load;
    double first_mb; /* resident after the first calls */
    long calls;
    double per_second[ROUNDS];
    double cpu_us[ROUNDS]; /* of the server, a call */
    double p50_ms[PACED_ROUNDS];
    double p99_ms[PACED_ROUNDS];
} subject;

static char own_program[4096];
static char nginx_program[64];
static char nginx_folder[] = P_tmpdir "/bench-http-XXXXXX";

/* ---- the servers ----------------------------------------------------------------------------- */

static void begin_own(site *it)
{
    char transport[] = "--transport";
    char http[] = "http";
    char flag[] = "--port";
    char port[16];
    char *const command[] = { own_program, transport, http, flag, port, NULL };

    snprintf(port, sizeof port, "%d", it->port = site_free_port());
    site_run(it, command);
}

static void begin_peer(site *it)
{
    char node[] = "node";
    char script[] = "bench/peers/echo_http.mjs";
    char port[16];
    char *const command[] = { node, script, port, NULL };

    snprintf(port, sizeof port, "%d", it->port = site_free_port());
    site_run(it, command);
}

/* One process, as many bytes of answer as ours. */
static void write_nginx_conf(const char *path, int port)
{
    FILE *conf = fopen(path, "w");

    if (!conf)
        bench_give_up("%s cannot be written", path);
    fprintf(conf,
            "daemon off; master_process off; pid pid; error_log error;\n"
            "events { worker_connections 1024; }\n"
            "http { access_log off; keepalive_requests 100000000; default_type application/json;\n"
            "client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;\n"
            "uwsgi_temp_path uwsgi; scgi_temp_path scgi;\n"
            "server { listen 127.0.0.1:%d; location / { return 200 '{\"jsonrpc\":\"2.0\",\"id\":1,"
            "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}}'; } } }\n",
            port, message);
    if (fclose(conf) != 0)
        bench_give_up("%s cannot be written", path);
}

static void begin_nginx(site *it)
{
    char flags[][3] = { "-p", "-c", "-e" };
    char conf[] = "nginx.conf";
    char errors[] = "stderr";
    char path[sizeof nginx_folder + sizeof conf];
    char *const command[] = { nginx_program, flags[0], nginx_folder, flags[1],
                              conf,          flags[2], errors,       NULL };

    it->port = site_free_port();
    snprintf(path, sizeof path, "%s/%s", nginx_folder, conf);
    write_nginx_conf(path, it->port);
    site_run(it, command);
}

/* Servers' programs are often not on a user's PATH; the last place is scripts/fetch-nginx's. */
static bool find_nginx(void)
{
    static const char *const folders[] = { "/usr/sbin", "/usr/bin", "/usr/local/sbin",
                                           "/usr/local/bin", ".deps/nginx" };

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(nginx_program, sizeof nginx_program, "%s/nginx", folders[i]);
        if (access(nginx_program, X_OK) == 0)
            return true;
    }
    return false;
}

static int drop(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    return remove(path);
}

static void drop_nginx_folder(void)
{
    nftw(nginx_folder, drop, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static size_t ask_echo(char *out, client *by)
{
    char body[CLIENT_ASK_MAX / 2];
    int length = snprintf(body, sizeof body,
                          "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":\"tools/call\","
                          "\"params\":{\"name\":\"%s\",\"arguments\":{\"message\":\"%s\"}}}",
                          ++by->id, by->site->tool ? by->site->tool : "echo", message);

    return session_write(out, CLIENT_ASK_MAX, by, body, (size_t)length);
}

/* nginx knows no id; it has no session either. */
static void hear_echo(const client *by, const reply *it)
{
    const char *id = memmem(it->body, it->body_length, "\"id\":", 5);

    if (it->status != 200 || !id || (by->session[0] && strtoll(id + 5, NULL, 10) != by->id) ||
        memmem(it->body, it->body_length, "\"isError\":true", 14) ||
        !memmem(it->body, it->body_length, message, sizeof message - 1))
        bench_give_up("%s: echo was answered by %s", by->site->name, by->answer);
}

static const script echo = { ask_echo, hear_echo };

/* ---- calls a second, latency ----------------------------------------------------------------- */

static double resident_mb(const site *it)
{
    return (double)program_resident_kb(&it->program) / 1024.0;
}

static double middle(double *figures, size_t count)
{
    figures_sort(figures, count);
    return figures_at(figures, count, 0.5);
}

static void open_subject(subject *it)
{
    double took;

    it->begin(&it->site);
    load_open(&it->load, &it->site, CLIENTS);
    for (size_t i = 0; i < it->load.count; i++)
        session_open(&it->load.clients[i], it->has_sessions);
    it->calls = load_for(&it->load, &echo, 0.3, LONG_MAX, &took);
    it->first_mb = resident_mb(&it->site);
}

static void close_subject(subject *it)
{
    load_close(&it->load);
    site_end(&it->site);
}

static void measure_rate(subject *it, int round)
{
    double took;
    int64_t before = program_cpu_ns(&it->site.program);
    long calls = load_for(&it->load, &echo, ROUND_S, LONG_MAX, &took);

    it->cpu_us[round] = (double)(program_cpu_ns(&it->site.program) - before) * 1e-3 / (double)calls;
    it->per_second[round] = (double)calls / took;
    it->calls += calls;
}

static void measure_latency(subject *it, int round)
{
    static double ms[PACED_CALLS];

    load_paced(&it->load, &echo, PACE, PACED_CALLS, ms);
    figures_sort(ms, PACED_CALLS);
    it->p50_ms[round] = figures_at(ms, PACED_CALLS, 0.5);
    it->p99_ms[round] = figures_at(ms, PACED_CALLS, 0.99);
    it->calls += PACED_CALLS;
}

static void say_rate(subject *it)
{
    printf("http %-14s  %d connections %7.0f calls/s, processor %5.1f us a call;  resident %.1f MB,"
           " after %ld calls %.1f MB\n",
           it->site.name, CLIENTS, middle(it->per_second, ROUNDS), middle(it->cpu_us, ROUNDS),
           it->first_mb, it->calls, resident_mb(&it->site));
}

static void say_latency(subject *it)
{
    printf("http %-14s  at %d/s  median %.3f ms, 99 %% within %.3f ms\n", it->site.name, PACE,
           middle(it->p50_ms, PACED_ROUNDS), middle(it->p99_ms, PACED_ROUNDS));
}

/* Until ENDURANCE_CALLS were made or the time is over. */
static void endure(subject *it)
{
    double took;
    double before = resident_mb(&it->site);
    long tenth = load_for(&it->load, &echo, ENDURANCE_S / 3.0, ENDURANCE_CALLS / 10, &took);
    double early = resident_mb(&it->site);
    long rest = load_for(&it->load, &echo, ENDURANCE_S, ENDURANCE_CALLS - tenth, &took);

    printf("http %-14s  endurance  resident %.1f MB, %ld calls later %.1f MB, %ld calls later "
           "%.1f MB%s\n",
           it->site.name, before, tenth, early, tenth + rest, resident_mb(&it->site),
           tenth + rest < ENDURANCE_CALLS ? " (time was over)" : "");
}

static void print_ratio(const subject *own, const subject *other)
{
    printf("http %-14s  ratio: %.2f x as many as %s\n", own->site.name,
           own->per_second[ROUNDS / 2] / other->per_second[ROUNDS / 2], other->site.name);
}

/* `nginx` is NULL where there is none. */
static void bench_rate(subject *own, subject *by_worker, subject *peer, subject *nginx)
{
    for (int round = 0; round < ROUNDS; round++) {
        measure_rate(own, round);
        measure_rate(by_worker, round);
        measure_rate(peer, round);
        if (nginx)
            measure_rate(nginx, round);
    }
    say_rate(own);
    say_rate(by_worker);
    say_rate(peer);
    if (nginx)
        say_rate(nginx);
    print_ratio(own, peer);
    print_ratio(by_worker, peer);
    if (nginx) {
        print_ratio(own, nginx);
        print_ratio(by_worker, nginx);
    } else {
        puts("http nginx is not installed");
    }
}

/* The peer is left out: it does not come near PACE. */
static void bench_latency(subject *own, subject *by_worker, subject *nginx)
{
    for (int round = 0; round < PACED_ROUNDS; round++) {
        measure_latency(own, round);
        measure_latency(by_worker, round);
        if (nginx)
            measure_latency(nginx, round);
    }
    say_latency(own);
    say_latency(by_worker);
    if (nginx)
        say_latency(nginx);
}

static void bench_calls(subject *own, subject *by_worker, subject *peer, subject *nginx)
{
    open_subject(own);
    open_subject(by_worker);
    open_subject(peer);
    if (nginx)
        open_subject(nginx);
    bench_rate(own, by_worker, peer, nginx);
    close_subject(peer);
    bench_latency(own, by_worker, nginx);
    if (nginx)
        close_subject(nginx);
    close_subject(by_worker);
    endure(own);
    close_subject(own);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void bench_start(subject *it, int starts)
{
    double ms[STARTS];
    double mb[STARTS];
    static client first;

    for (int i = 0; i < starts; i++) {
        int64_t from = mcp_clock_mono_ns();
        it->begin(&it->site);
        client_open(&first, &it->site);
        session_open(&first, false);
        ms[i] = (double)(mcp_clock_mono_ns() - from) * 1e-6;
        mb[i] = resident_mb(&it->site);
        client_close(&first);
        site_end(&it->site);
    }
    double half = middle(ms, (size_t)starts);
    printf("http %-14s  start to first answer %.1f ms (best %.1f), resident then %.1f MB\n",
           it->site.name, half, ms[0], middle(mb, (size_t)starts));
}

/* ---- idle sessions and streams --------------------------------------------------------------- */

/* Each answers a call, in its own name. */
static void check_sessions(client *by, char (*sessions)[CLIENT_SESSION_MAX])
{
    char request[CLIENT_ASK_MAX];

    for (int i = 0; i < SESSIONS; i++) {
        memcpy(by->session, sessions[i], CLIENT_SESSION_MAX);
        reply it = client_ask(by, request, ask_echo(request, by));
        hear_echo(by, &it);
    }
}

static void open_stream(client *it, const site *site, const char *session)
{
    char request[CLIENT_ASK_MAX];
    size_t length = 0;
    int size = snprintf(request, sizeof request,
                        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n"
                        "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n\r\n",
                        site->port, session);

    client_open(it, site);
    reply got = client_ask_stream(it, request, (size_t)size);
    const char *type = reply_field(&got, "Content-Type", &length);
    if (got.status != 200 || !type || length < 17 || memcmp(type, "text/event-stream", 17) != 0)
        bench_give_up("%s: a stream was answered by %s", site->name, it->answer);
}

static void check_stream(const client *it)
{
    char byte;

    if (recv(it->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
        bench_give_up("%s: a stream was ended", it->site->name);
}

/* The sessions' streams hold while others are answered. */
static void bench_streams(const site *site, client *by, char (*sessions)[CLIENT_SESSION_MAX])
{
    client *streams = calloc(STREAMS, sizeof streams[0]);
    double before = resident_mb(site);
    int64_t from = mcp_clock_mono_ns();

    if (!streams)
        bench_give_up("no memory");
    for (int i = 0; i < STREAMS; i++)
        open_stream(&streams[i], site, sessions[i]);
    double took = (double)(mcp_clock_mono_ns() - from) * 1e-9;
    double after = resident_mb(site);
    check_sessions(by, sessions);
    for (int i = 0; i < STREAMS; i++)
        check_stream(&streams[i]);
    printf("http %-14s  %d idle SSE streams hold, opened in %.1f s, %.1f KiB each;  resident %.1f "
           "MB\n",
           site->name, STREAMS, took, (after - before) * 1024 / STREAMS, after);
    for (int i = 0; i < STREAMS; i++)
        client_close(&streams[i]);
    free(streams);
}

static void bench_sessions(subject *it)
{
    char(*sessions)[CLIENT_SESSION_MAX] = calloc(SESSIONS, CLIENT_SESSION_MAX);
    static client by;

    if (!sessions)
        bench_give_up("no memory");
    it->begin(&it->site);
    client_open(&by, &it->site);
    session_open(&by, false); /* its session idles with the others */
    double before = resident_mb(&it->site);
    int64_t from = mcp_clock_mono_ns();
    for (int i = 0; i < SESSIONS - 1; i++) {
        session_open(&by, true);
        memcpy(sessions[i], by.session, CLIENT_SESSION_MAX);
    }
    memcpy(sessions[SESSIONS - 1], sessions[0], CLIENT_SESSION_MAX);
    double took = (double)(mcp_clock_mono_ns() - from) * 1e-9;
    double after = resident_mb(&it->site);
    check_sessions(&by, sessions);
    printf("http %-14s  %d idle sessions, %.1f KiB each, begun in %.1f s;  resident %.1f MB before,"
           " %.1f MB, after a call in each %.1f MB\n",
           it->site.name, SESSIONS, (after - before) * 1024 / (SESSIONS - 1), took, before, after,
           resident_mb(&it->site));
    bench_streams(&it->site, &by, sessions);
    client_close(&by);
    site_end(&it->site);
    free(sessions);
}

/* ---- a long message -------------------------------------------------------------------------- */

static mcp_status answer_length(mcp_call *call, void *data)
{
    const char *text = mcp_arg_string(call, "text");

    (void)data;
    if (!text)
        return mcp_call_tool_error(call, "A text holds no NUL byte.");
    return mcp_call_text(call, mcp_arena_printf(mcp_call_arena(call), "%zu", strlen(text)));
}

static int serve_lengths(int port)
{
    static const char definition[] =
        "{\"name\":\"length\",\"description\":\"Says how long a text is\",\"inputSchema\":{\"type\":"
        "\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},\"required\":[\"text\"]}}";
    static const mcp_file files[] = { { "tools/length.json", definition, sizeof definition - 1 },
                                      { 0 } };
    static const mcp_tool tools[] = { { "length", answer_length, MCP_READS, 0, 0 }, { 0 } };
    mcp_features features = { .files = files, .tools = tools };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_error err = MCP_ERROR_INIT;
    mcp_server *server = NULL;

    options.name = "lengths";
    options.version = "1.0.0";
    http.port = port;
    mcp_status st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_http(server, &http, &err);
    mcp_server_free(server);
    if (st != MCP_OK)
        fprintf(stderr, "bench: %s\n", err.message);
    return st != MCP_OK;
}

static void begin_lengths(site *it)
{
    it->port = site_free_port();
    site_serve(it, serve_lengths);
}

/* One message of exactly LONG_MESSAGE bytes; `out` has room. @return the length of its text */
static size_t write_long(char *out)
{
    static const char before[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
        "\"name\":\"length\",\"arguments\":{\"text\":\"";
    static const char after[] = "\"}}}";
    size_t text = LONG_MESSAGE - (sizeof before - 1) - (sizeof after - 1);

    memcpy(out, before, sizeof before - 1);
    for (size_t i = 0; i < text; i++)
        out[sizeof before - 1 + i] = message[i % (sizeof message - 1)];
    memcpy(out + sizeof before - 1 + text, after, sizeof after - 1);
    return text;
}

static void bench_long(subject *it)
{
    size_t room = LONG_MESSAGE + CLIENT_ASK_MAX;
    char *body = malloc(LONG_MESSAGE);
    char *request = malloc(room);
    char expected[64];
    double mb_per_s[LONG_ROUNDS];
    static client by;

    if (!body || !request)
        bench_give_up("no memory");
    snprintf(expected, sizeof expected, "\"text\":\"%zu\"", write_long(body));
    it->begin(&it->site);
    client_open(&by, &it->site);
    session_open(&by, true);
    size_t length = session_write(request, room, &by, body, LONG_MESSAGE);
    for (int i = 0; i < LONG_ROUNDS; i++) {
        int64_t from = mcp_clock_mono_ns();
        reply got = client_ask(&by, request, length);
        mb_per_s[i] = LONG_MESSAGE * 1e3 / (double)(mcp_clock_mono_ns() - from);
        if (got.status != 200 || !memmem(got.body, got.body_length, expected, strlen(expected)))
            bench_give_up("%s: a long message was answered by %s", it->site.name, by.answer);
    }
    double half = middle(mb_per_s, LONG_ROUNDS);
    printf("http %-14s  a message of %d bytes, answered with its length, %.0f MB/s (best %.0f);  "
           "resident %.1f MB\n",
           it->site.name, LONG_MESSAGE, half, mb_per_s[LONG_ROUNDS - 1], resident_mb(&it->site));
    client_close(&by);
    site_end(&it->site);
    free(request);
    free(body);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void on_time_over(int signal_number)
{
    static const char words[] = "bench: http took too long\n";

    (void)signal_number;
    if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
        _exit(2);
    _exit(1);
}

static void prepare(int argc, char **argv)
{
    const char *bin = getenv("CAUSEWAY_BIN");
    struct rlimit files;

    if (argc > 1)
        snprintf(own_program, sizeof own_program, "%s", argv[1]);
    else
        snprintf(own_program, sizeof own_program, "%s/mcp-everything", bin ? bin : "build/bin");
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_time_over);
    alarm(BENCH_MAX_S);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (files.rlim_cur < STREAMS + 100)
        bench_give_up("%d streams need as many descriptors; the limit is %lu", STREAMS,
                      (unsigned long)files.rlim_cur);
    if (!mkdtemp(nginx_folder))
        bench_give_up("no folder in " P_tmpdir);
    atexit(drop_nginx_folder);
}

int main(int argc, char **argv)
{
    static subject own = { .site.name = "causeway", .begin = begin_own, .has_sessions = true };
    static subject by_worker = { .site.name = "same by worker",
                                 .site.tool = "echo_by_worker",
                                 .begin = begin_own,
                                 .has_sessions = true };
    static subject peer = { .site.name = "TypeScript SDK",
                            .begin = begin_peer,
                            .has_sessions = true };
    static subject nginx = { .site.name = "nginx", .begin = begin_nginx };
    static subject lengths = { .site.name = "causeway", .begin = begin_lengths };

    prepare(argc, argv);
    bool has_nginx = find_nginx();
    bench_start(&own, STARTS);
    bench_start(&peer, PEER_STARTS);
    if (has_nginx)
        bench_start(&nginx, STARTS);
    bench_calls(&own, &by_worker, &peer, has_nginx ? &nginx : NULL);
    bench_sessions(&own);
    bench_long(&lengths);
    bench_long(&peer);
    return 0;
}

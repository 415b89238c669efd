/*
 * guest.c - a child process that the tests of kit/proc start: does what its words say.
 *
 * Built without sanitizers, so that it starts under a limit of its address space. A deed that a
 * protection must prevent prints what came of it, and ends with 0 whatever that was.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc/fork.h"

extern char **environ;

static int echo(char **words)
{
    char bytes[4096];
    ssize_t n;

    (void)words;
    for (n = read(0, bytes, sizeof bytes); n > 0; n = read(0, bytes, sizeof bytes))
        if (write(1, bytes, (size_t)n) != n)
            return 1;
    return 0;
}

static int print(char **words)
{
    for (; *words; words++)
        printf("%s\n", *words);
    return 0;
}

static int complain(char **words)
{
    fputs(words[0], stderr);
    return 0;
}

static int leave(char **words)
{
    return atoi(words[0]);
}

static int die(char **words)
{
    raise(atoi(words[0]));
    return 0;
}

static int show_environment(char **words)
{
    (void)words;
    for (char **word = environ; *word; word++)
        printf("%s\n", *word);
    return 0;
}

static int show_cwd(char **words)
{
    char path[4096];

    (void)words;
    printf("%s", getcwd(path, sizeof path) ? path : strerror(errno));
    return 0;
}

static int show_descriptors(char **words)
{
    (void)words;
    for (int fd = 0; fd < 4096; fd++)
        if (fcntl(fd, F_GETFD) >= 0)
            printf("%d ", fd);
    return 0;
}

/* Blocked or ignored signals, and whether it leads its session. */
static int show_signals(char **words)
{
    sigset_t blocked;

    (void)words;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < 65; number++) {
        struct sigaction action;
        if (sigismember(&blocked, number) == 1)
            printf("blocked %d ", number);
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
            printf("ignored %d ", number);
    }
    printf("%s", getsid(0) == getpid() ? "leader" : "follower");
    return 0;
}

static int show_limits(char **words)
{
    static const int all[] = { RLIMIT_AS, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_CORE };
    struct rlimit limit;

    (void)words;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (getrlimit(all[i], &limit) == 0)
            printf("%llu ", (unsigned long long)limit.rlim_cur);
    printf("%d", getpriority(PRIO_PROCESS, 0));
    return 0;
}

static int hang(char **words)
{
    (void)words;
    for (;;)
        pause();
    return 0;
}

static int ignore_sigterm(char **words)
{
    signal(SIGTERM, SIG_IGN);
    printf("ready\n");
    fflush(stdout);
    return hang(words);
}

static void on_sigterm(int number)
{
    (void)number;
    _exit(7);
}

static int catch_sigterm(char **words)
{
    signal(SIGTERM, on_sigterm);
    printf("ready\n");
    fflush(stdout);
    return hang(words);
}

static int flood(char **words)
{
    char bytes[65536];
    int fd = atoi(words[0]);

    memset(bytes, 'x', sizeof bytes);
    while (write(fd, bytes, sizeof bytes) > 0)
        continue;
    return 0;
}

/* Leave a grandchild in a session of its own, which holds a lock on a file until it ends. */
static int escape(char **words)
{
    int ready[2];
    char byte;

    if (pipe(ready) != 0)
        return 1;
    if (fork() == 0) {
        setsid();
        signal(SIGTERM, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
        if (fork() > 0)
            _exit(0);
        setsid();
        int fd = open(words[0], O_RDWR | O_CREAT, 0600);
        struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
        if (fd < 0 || fcntl(fd, F_SETLK, &lock) != 0)
            _exit(1);
        (void)!write(ready[1], "y", 1);
        hang(words);
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    printf("escaped\n");
    fflush(stdout);
    return words[1] ? hang(words) : 0;
}

static int read_from(char **words)
{
    char bytes[64];
    ssize_t n = read(atoi(words[0]), bytes, sizeof bytes);

    printf("%.*s", n > 0 ? (int)n : 0, bytes);
    return 0;
}

static int allocate(char **words)
{
    size_t bytes = strtoull(words[0], NULL, 10);
    char *volatile memory = malloc(bytes); /* else a compiler leaves it out */

    printf("%s", memory ? "allocated" : "refused");
    free(memory);
    return 0;
}

static int write_file(char **words)
{
    char bytes[4096] = { 0 };
    int fd = open(words[0], O_WRONLY | O_CREAT, 0600);
    long total = 0;
    ssize_t n = 0;

    signal(SIGXFSZ, SIG_IGN);
    while (fd >= 0 && total < 1 << 20 && n >= 0) {
        n = write(fd, bytes, sizeof bytes);
        total += n > 0 ? n : 0;
    }
    printf("%ld %s", total, fd < 0 || n < 0 ? strerror(errno) : "");
    return 0;
}

static int spin(char **words)
{
    (void)words;
    for (volatile unsigned long i = 0;; i++)
        continue;
    return 0;
}

/* "done", or why not. */
static int say(int failed)
{
    printf("%s", failed ? strerror(errno) : "done");
    return 0;
}

enum { BOMB_MAX = 3000 };

static int fork_bomb(char **words)
{
    int count = 0;

    for (pid_t pid = 0; pid >= 0 && count<BOMB_MAX; count += pid> 0) {
        pid = fork();
        if (pid == 0)
            return hang(words);
    }
    printf("%d", count);
    return 0;
}

static void *sleep_long(void *data)
{
    pause();
    return data;
}

static int thread_bomb(char **words)
{
    pthread_attr_t small;
    pthread_t thread;
    int count = 0;

    (void)words;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    while (count < BOMB_MAX && pthread_create(&thread, &small, sleep_long, NULL) == 0)
        count++;
    printf("%d", count);
    fflush(stdout);
    _exit(0);
}

static int open_file(char **words)
{
    int fd = open(words[0], words[1] ? O_WRONLY | O_CREAT : O_RDONLY, 0600);

    return say(fd < 0);
}

/* How many kinds of sockets there are. */
static int sockets(char **words)
{
    int count = 0;

    (void)words;
    for (int family = 0; family < 64; family++)
        for (int type = 1; type < 11; type++)
            count += socket(family, type, 0) >= 0;
    printf("%d", count);
    return 0;
}

static int connect_out(char **words)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(atoi(words[0])) };
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return say(fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) != 0);
}

static int exec_other(char **words)
{
    execl(words[0], words[0], "-c", "echo done", (char *)NULL);
    return say(1);
}

static int fork_once(char **words)
{
    pid_t pid = fork();

    (void)words;
    if (pid == 0)
        _exit(0);
    return say(pid < 0);
}

static int clone_three(char **words)
{
    uint64_t arguments[11] = { 0 };

    (void)words;
    long pid = syscall(SYS_clone3, arguments, sizeof arguments);
    if (pid == 0)
        _exit(0);
    return say(pid < 0);
}

static int make_thread(char **words)
{
    pthread_t thread;

    (void)words;
    errno = pthread_create(&thread, NULL, sleep_long, NULL);
    printf("%s", errno ? strerror(errno) : "done");
    fflush(stdout);
    _exit(0);
}

static int trace(char **words)
{
    return say(ptrace(PTRACE_SEIZE, atoi(words[0]), NULL, NULL) != 0);
}

static int trace_itself(char **words)
{
    (void)words;
    return say(ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0);
}

static int signal_other(char **words)
{
    return say(kill(atoi(words[0]), atoi(words[1])) != 0);
}

static int new_namespace(char **words)
{
    (void)words;
    return say(unshare(CLONE_NEWUSER) != 0);
}

static int make_ring(char **words)
{
    (void)words;
    return say(syscall(SYS_io_uring_setup, 1, NULL) < 0);
}

/* User and effective capabilities. */
static int identity(char **words)
{
    struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct data[2] = { { 0 }, { 0 } };

    (void)words;
    syscall(SYS_capget, &head, data);
    printf("%u %x %x", geteuid(), data[0].effective, data[1].effective);
    return 0;
}

/* Kill what supervises this process: its parent, and process 1. */
static int kill_parents(char **words)
{
    kill(getppid(), SIGKILL);
    kill(1, SIGKILL);
    kill(1, SIGSTOP);
    printf("ready\n");
    fflush(stdout);
    return hang(words);
}

/* As a process does that was started without protections and restricts itself: Landlock rules and
 * a seccomp program come by descriptors 3 and 4. */
static int restrict_itself(char **words)
{
    static char bytes[32768];
    ssize_t length = read(4, bytes, sizeof bytes);
    struct sock_fprog program = { .len = (unsigned short)(length / 8), .filter = (void *)bytes };

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if ((words[2] && syscall(SYS_landlock_restrict_self, 3, 0) != 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 1;
    open_file((char *[]){ words[0], NULL });
    printf(",");
    open_file((char *[]){ words[1], NULL });
    printf(",");
    fork_once(NULL);
    printf(",");
    exec_other((char *[]){ (char[]){ "/bin/sh" }, NULL });
    printf(",");
    sockets(NULL);
    printf(",");
    return make_thread(NULL);
}

static const struct deed {
    const char *name;
    int (*run)(char **words);
    int words; /* at least */
} deeds[] = {
    { "echo", echo, 0 },
    { "print", print, 0 },
    { "complain", complain, 1 },
    { "leave", leave, 1 },
    { "die", die, 1 },
    { "environment", show_environment, 0 },
    { "cwd", show_cwd, 0 },
    { "descriptors", show_descriptors, 0 },
    { "signals", show_signals, 0 },
    { "limits", show_limits, 0 },
    { "hang", hang, 0 },
    { "ignore-sigterm", ignore_sigterm, 0 },
    { "catch-sigterm", catch_sigterm, 0 },
    { "flood", flood, 1 },
    { "escape", escape, 1 },
    { "read-from", read_from, 1 },
    { "allocate", allocate, 1 },
    { "write-file", write_file, 1 },
    { "spin", spin, 0 },
    { "fork-bomb", fork_bomb, 0 },
    { "thread-bomb", thread_bomb, 0 },
    { "open", open_file, 1 },
    { "sockets", sockets, 0 },
    { "connect", connect_out, 1 },
    { "exec", exec_other, 1 },
    { "fork", fork_once, 0 },
    { "clone3", clone_three, 0 },
    { "thread", make_thread, 0 },
    { "trace", trace, 1 },
    { "trace-itself", trace_itself, 0 },
    { "signal", signal_other, 2 },
    { "namespace", new_namespace, 0 },
    { "ring", make_ring, 0 },
    { "identity", identity, 0 },
    { "kill-parents", kill_parents, 0 },
    { "restrict", restrict_itself, 2 },
};

/* Of the server: what its children have of it. */
static int count_of_server = 41;

static int count(char **words)
{
    (void)words;
    printf("%d", ++count_of_server);
    return 0;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "count") == 0)
        return count(argv + 2);
    for (size_t i = 0; argc > 1 && i < sizeof deeds / sizeof deeds[0]; i++)
        if (strcmp(argv[1], deeds[i].name) == 0 && argc - 2 >= deeds[i].words)
            return deeds[i].run(argv + 2);
    fprintf(stderr, "guest: what?\n");
    return 2;
}

static int run_in_fork(char **argv, void *data)
{
    int argc = 0;

    (void)data;
    while (argv[argc])
        argc++;
    int code = run(argc, argv);
    fflush(stdout);
    fflush(stderr);
    return code;
}

static int serve(bool has_thread)
{
    pthread_t thread;

    if (!proc_is_fork_server())
        return 2;
    if (has_thread && pthread_create(&thread, NULL, sleep_long, NULL) != 0)
        return 2;
    count_of_server = 42;
    return proc_fork_serve(run_in_fork, NULL);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strncmp(argv[1], "serve", 5) == 0)
        return serve(strcmp(argv[1], "serve-with-thread") == 0);
    return run(argc, argv);
}

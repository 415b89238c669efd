/*
 * fork_serve.c - the fork server in its program: forks a launcher for each child.
 *
 * A message of the caller is one descriptor, the launcher's end of a control socket. The fork
 * closes all others and is a launcher then (proc/launcher), so the caller and the child
 * see no difference. It is a parent of its own for the child: the server only forks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proc/fork.h"
#include "proc/launcher/launcher.h"

bool proc_is_fork_server(void)
{
    int type = 0;
    socklen_t size = sizeof type;

    if (getsockopt(CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET)
        return false;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0)
        _exit(1);
    launcher_close_from(STDERR_FILENO + 1);
    prctl(PR_SET_DUMPABLE, 0);
    return true;
}

/* @return 0: not known */
static int count_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder))
        count += entry->d_name[0] != '.';
    if (folder)
        closedir(folder);
    return count;
}

static void fork_launcher(int control, proc_forked *run, void *data)
{
    pid_t pid = fork();

    if (pid == 0) {
        signal(SIGCHLD, SIG_DFL);
        /* Else the maps of its user namespace belonged to root. The launcher clears it again. */
        prctl(PR_SET_DUMPABLE, 1);
        setsid();
        if (dup2(control, CONTROL_FD) == CONTROL_FD)
            launcher_run(run, data);
        _exit(0);
    }
    close(control); /* where there was no fork, the caller sees the end of the socket */
}

int proc_fork_serve(proc_forked *run, void *data)
{
    int fds[PLAN_MESSAGE_FDS_MAX];

    if (count_threads() != 1)
        return 1;
    signal(SIGCHLD, SIG_IGN); /* the system reaps the launchers */
    while (launcher_receive(fds) == 1)
        fork_launcher(fds[0], run, data);
    return 0;
}

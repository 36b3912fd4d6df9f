/* Runs one command and tells what it cost: times, and memory of its own apart from files that it has mapped.
 *
 *   meter [-m] [-r REPORT] [-o STDOUT] [-l SECONDS] COMMAND ARG..
 *
 * One line goes to REPORT (default: standard error):  user_s sys_s wall_s resident_kb anonymous_kb exit
 *   resident_kb   the peak of the resident set, mapped pages of files included (wait4)
 *   anonymous_kb  with -m: the peak of RssAnon in /proc/PID/status, looked at every half millisecond; else -1
 *   exit          128 + N where signal N ended it; 124 where it took longer than SECONDS and was killed
 *
 * Small, static and in C because a child begins with the resident set of whoever forked it: measured from Python,
 * nothing would seem to take less than 10 MB. Looking at the memory takes time on the other core, so times are
 * measured in runs without -m.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double of_timeval(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec * 1e-6; }

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The number behind `RssAnon:`, -1 where the process is gone. */
static long anonymous_kb(int status_file) {
  char text[4096];
  const ssize_t got = pread(status_file, text, sizeof text - 1, 0);
  if (got <= 0) return -1;
  text[got] = '\0';
  const char *line = strstr(text, "\nRssAnon:");
  return line == NULL ? -1 : strtol(line + strlen("\nRssAnon:"), NULL, 10);
}

static int fail(const char *what) {
  fprintf(stderr, "meter: %s: %s\n", what, strerror(errno));
  return 2;
}

/* Never returns. */
static void become(char **command, const char *output) {
  if (output != NULL) {
    const int file = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || dup2(file, STDOUT_FILENO) < 0) _exit(fail(output));
    close(file);
  }
  execvp(command[0], command);
  fail(command[0]);
  _exit(127);
}

int main(int argc, char **argv) {
  const char *report = NULL, *output = NULL;
  int memory = 0, option;
  double limit = 0;
  while ((option = getopt(argc, argv, "+mr:o:l:")) != -1) {
    switch (option) {
      case 'm': memory = 1; break;
      case 'r': report = optarg; break;
      case 'o': output = optarg; break;
      case 'l': limit = strtod(optarg, NULL); break;
      default: return 2;
    }
  }
  if (optind == argc) {
    fprintf(stderr, "usage: meter [-m] [-r REPORT] [-o STDOUT] [-l SECONDS] COMMAND ARG..\n");
    return 2;
  }

  int started[2];
  if (pipe2(started, O_CLOEXEC) != 0) return fail("pipe");
  const double begin = now();
  const pid_t child = fork();
  if (child < 0) return fail("fork");
  if (child == 0) become(argv + optind, output);

  /* Before the exec, the memory would be this program's. */
  close(started[1]);
  char none;
  while (read(started[0], &none, 1) < 0 && errno == EINTR) {
  }

  int status_file = -1, late = 0, status;
  long most = -1;
  if (memory) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/status", (long)child);
    status_file = open(path, O_RDONLY | O_CLOEXEC);
  }
  struct rusage usage;
  for (;;) {
    const pid_t ended = wait4(child, &status, memory || limit > 0 ? WNOHANG : 0, &usage);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return fail("wait4");
    if (limit > 0 && !late && now() - begin > limit) {
      late = 1;
      kill(child, SIGKILL);
    }
    if (status_file >= 0) {
      const long kb = anonymous_kb(status_file);
      if (kb > most) most = kb;
    }
    const struct timespec pause = {0, memory ? 500000 : 10000000};
    nanosleep(&pause, NULL);
  }
  const double wall = now() - begin;

  const int code = late ? 124 : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  FILE *file = report == NULL ? stderr : fopen(report, "w");
  if (file == NULL) return fail(report);
  fprintf(file, "%.6f %.6f %.6f %ld %ld %d\n", of_timeval(usage.ru_utime), of_timeval(usage.ru_stime), wall,
          usage.ru_maxrss, most, code);
  return file != stderr && fclose(file) != 0 ? fail(report) : 0;
}

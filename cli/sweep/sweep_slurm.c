/* sweep_slurm.c - scripts for sbatch.
 *
 * Each task of the array does one shard into a file of its own and goes on where an earlier try
 * ended.  The merging job begins when all tasks have ended, well or not: what is missing then is
 * done by `tabi sweep STUDY --out OUT --resume`, or by submitting the same study again. */
#include "sweep/sweep_slurm.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_TASKS = 100, PATH_SIZE = 4096 };

/* Where everything is. */
typedef struct place {
  char tabi[PATH_SIZE], study[PATH_SIZE], out[PATH_SIZE], parts[PATH_SIZE];
} place;

static int fail(const char *what, const char *path) {
  (void)fprintf(stderr, "tabi: error: %s '%s': %s\n", what, path, strerror(errno));
  return TBI_EXIT_INTERNAL;
}

/* A path that is the same from every node's folder. */
static void whole_path(const char *path, char to[PATH_SIZE]) {
  char folder[PATH_SIZE / 2];
  if (path[0] == '/' || !getcwd(folder, sizeof folder)) folder[0] = '\0';
  (void)snprintf(to, PATH_SIZE, "%s%s%s", folder, folder[0] ? "/" : "", path);
}

static int find_places(const tbi_slurm_jobs *jobs, place *at) {
  ssize_t length = readlink("/proc/self/exe", at->tabi, sizeof at->tabi - 1);
  if (length < 0) return fail("cannot find", "/proc/self/exe");
  at->tabi[length] = '\0';
  whole_path(jobs->study, at->study);
  whole_path(jobs->out, at->out);
  if (strlen(at->out) + 40 > PATH_SIZE || strpbrk(at->out, "'\n") || strpbrk(at->study, "'\n") ||
      strpbrk(at->tabi, "'\n")) {
    return tbi_usage_error("sweep", "paths of a job must be shorter, and without quotes");
  }
  (void)snprintf(at->parts, sizeof at->parts, "%.*s.parts", PATH_SIZE - 40, at->out);
  if (mkdir(at->parts, 0777) != 0 && errno != EEXIST) return fail("cannot make folder", at->parts);
  return TBI_EXIT_OK;
}

/* The first line that a command prints, or false after an error. */
static bool read_line(const char *command, char *line, int size) {
  FILE *pipe = popen(command, "r"); /* NOLINT(cert-env33-c): commands of ours */
  bool read = pipe && fgets(line, size, pipe);
  int status = pipe ? pclose(pipe) : -1;
  return read && status == 0;
}

/* Slurm numbers tasks from 0 and refuses a number of MaxArraySize and more. */
static int64_t choose_tasks(const tbi_slurm_jobs *jobs) {
  char line[200];
  int64_t most = 1001;
  if (read_line("scontrol show config | grep -o 'MaxArraySize *= *[0-9]*'", line, sizeof line)) {
    const char *number = strpbrk(line, "0123456789");
    if (number) most = strtoll(number, NULL, 10);
  }
  int64_t tasks = jobs->tasks > 0 ? jobs->tasks : DEFAULT_TASKS;
  if (tasks > jobs->runs) tasks = jobs->runs;
  if (most < 2) return 1;
  return tasks < most ? tasks : most - 1;
}

static int write_scripts(const place *at, const tbi_slurm_jobs *jobs) {
  char path[PATH_SIZE + 20];
  (void)snprintf(path, sizeof path, "%s/shard.sh", at->parts);
  FILE *shard = fopen(path, "w");
  if (!shard) return fail("cannot write", path);
  (void)fprintf(shard,
                "#!/bin/sh\n"
                "exec '%s' sweep '%s' --shard $((SLURM_ARRAY_TASK_ID + 1))/%" PRId64
                " --resume --engine %s \\\n"
                "  --out '%s'/$SLURM_ARRAY_TASK_ID.sqlite --jobs ${SLURM_CPUS_PER_TASK:-1}\n",
                at->tabi, at->study, jobs->tasks, jobs->engine, at->parts);
  if (fclose(shard) != 0) return fail("cannot write", path);
  (void)snprintf(path, sizeof path, "%s/merge.sh", at->parts);
  FILE *merge = fopen(path, "w");
  if (!merge) return fail("cannot write", path);
  (void)fprintf(merge, "#!/bin/sh\nexec '%s' sweep --merge '%s' '%s'/*.sqlite\n", at->tabi, at->out,
                at->parts);
  return fclose(merge) == 0 ? TBI_EXIT_OK : fail("cannot write", path);
}

/* The number of the job. */
static bool submit(const char *command, long *job) {
  char line[100] = "";
  if (read_line(command, line, sizeof line)) *job = strtol(line, NULL, 10);
  if (*job > 0) return true;
  (void)fprintf(stderr, "tabi: error: sbatch did not take the job; is Slurm running here?\n");
  return false;
}

int tbi_slurm_submit(tbi_slurm_jobs *jobs) {
  place at;
  char command[4 * PATH_SIZE];
  int code = find_places(jobs, &at);
  if (code != TBI_EXIT_OK) return code;
  jobs->tasks = choose_tasks(jobs);
  code = write_scripts(&at, jobs);
  if (code != TBI_EXIT_OK) return code;
  (void)snprintf(command, sizeof command,
                 "sbatch --parsable --job-name=tabi-sweep --array=0-%" PRId64
                 " --output='%s'/%%a.txt '%s'/shard.sh",
                 jobs->tasks - 1, at.parts, at.parts);
  if (!submit(command, &jobs->array)) return TBI_EXIT_INTERNAL;
  (void)snprintf(command, sizeof command,
                 "sbatch --parsable --job-name=tabi-merge --dependency=afterany:%ld "
                 "--output='%s'/merge.txt '%s'/merge.sh",
                 jobs->array, at.parts, at.parts);
  return submit(command, &jobs->merge) ? TBI_EXIT_OK : TBI_EXIT_INTERNAL;
}

/* sweep_mpi.c - `tabi-sweep-mpi`: the runs of a study by all ranks of an MPI job.
 *
 *   mpirun --enable-recovery tabi-sweep-mpi STUDY --out F
 *
 * Rank 0 hands out runs and writes their rows; a rank that has ended a run sends its row, which is
 * also its wish for another one.  There are no collectives, so that the death of a rank costs the
 * run that it was at: rank 0 gives a rank up that has been silent for much longer than any run
 * took, and hands its run to another.  The death of rank 0 ends the job; started again it goes on.
 */
#include "tabi/tabi_study.h"

#include <inttypes.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROW = 1, WORK = 2 };                               /* tags */
enum { RUN, STATUS, HASH_HIGH, HASH_LOW, SECONDS, HEAD }; /* of a row as numbers; then measures */
enum { NOTHING_DONE = -1, NO_MORE = -1 };

static const char *const statuses[] = {"ok", "diverged", "failed"};

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int complain(const tabi_error *err) {
  (void)fprintf(stderr, "%s:%d: error: %s\n", err->file[0] ? err->file : "tabi-sweep-mpi",
                err->line > 0 ? err->line : 1, err->message);
  return 3;
}

/* -- ranks that run */

static void pack(const tabi_study_row *row, double *number) {
  number[RUN] = (double)row->run;
  number[STATUS] = 2;
  for (int i = 0; i < 3; ++i) {
    if (strcmp(row->status, statuses[i]) == 0) number[STATUS] = i;
  }
  number[HASH_HIGH] = (double)(row->hash >> 32);
  number[HASH_LOW] = (double)(row->hash & 0xffffffffU);
  number[SECONDS] = row->seconds;
}

/* The run that rank 0 hands out, or NO_MORE.  False: rank 0 is dead, for it answers at once but
 * where it waits for the file. */
static bool receive_run(int64_t *run) {
  enum { PATIENCE = 60 }; /* s */
  const struct timespec nap = {0, 200000};
  double start = now();
  int there = 0;
  while (!there && now() - start < PATIENCE) {
    if (MPI_Iprobe(0, WORK, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE) != MPI_SUCCESS) return false;
    if (!there) (void)nanosleep(&nap, NULL);
  }
  return there &&
         MPI_Recv(run, 1, MPI_INT64_T, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* A row, or at first none, is also the wish for a run. */
static int ask_for_runs(const tabi_study *study, double *number, int count) {
  number[RUN] = NOTHING_DONE;
  for (;;) {
    int64_t run = NO_MORE;
    if (MPI_Send(number, count, MPI_DOUBLE, 0, ROW, MPI_COMM_WORLD) != MPI_SUCCESS ||
        !receive_run(&run)) {
      (void)fputs("tabi-sweep-mpi: rank 0 does not answer; start the job again to go on\n", stderr);
      return 1;
    }
    if (run == NO_MORE) return 0;
    tabi_error err = {0};
    tabi_study_row row = {.measure = number + HEAD};
    if (tabi_study_run(study, run, NULL, &row, &err) != TABI_OK) return complain(&err);
    pack(&row, number);
  }
}

static int do_runs(const tabi_study *study, int count) {
  double *number = calloc((size_t)count, sizeof *number);
  int code = 1;
  if (number) code = ask_for_runs(study, number, count);
  free(number);
  return code;
}

/* -- the rank that hands out */

typedef struct office {
  const tabi_study *study;
  tabi_results *results;
  double *number; /* a row that came */
  int count;
  int64_t next;  /* run that nobody has had */
  int64_t *lost; /* runs of ranks that were given up: [ranks] */
  int nlost;
  int64_t *under_way; /* by rank; NO_MORE: none */
  double *heard;      /* s, by rank */
  bool *gone;         /* has ended, or was given up */
  int ranks;
  double longest; /* s, of a run */
  int64_t done;   /* runs now */
} office;

static int64_t next_run(office *o) {
  if (o->nlost > 0) return o->lost[--o->nlost];
  while (o->next < tabi_study_nrun(o->study) && tabi_results_has(o->results, o->next))
    ++o->next;
  return o->next < tabi_study_nrun(o->study) ? o->next++ : NO_MORE;
}

static bool keep_row(office *o, tabi_error *err) {
  const double *n = o->number;
  if (n[RUN] == NOTHING_DONE) return true;
  tabi_study_row row = {
      .run = (int64_t)n[RUN],
      .engine = tabi_study_engine(o->study),
      .status = statuses[(int)n[STATUS]],
      .hash = (uint64_t)n[HASH_HIGH] << 32 | (uint64_t)n[HASH_LOW],
      .seconds = n[SECONDS],
      .measure = o->number + HEAD,
  };
  o->longest = fmax(o->longest, row.seconds);
  ++o->done;
  return tabi_results_add(o->results, &row, err) == TABI_OK;
}

/* A rank that was given up and is heard of again is welcome. */
static bool serve(office *o, int rank, tabi_error *err) {
  if (MPI_Recv(o->number, o->count, MPI_DOUBLE, rank, ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
      MPI_SUCCESS)
    return true;
  if (!keep_row(o, err)) return false;
  int64_t run = next_run(o);
  o->heard[rank] = now();
  o->under_way[rank] = run;
  o->gone[rank] = run == NO_MORE;
  /* a message of one number is buffered: this does not wait, for a dead rank either */
  (void)MPI_Send(&o->under_way[rank], 1, MPI_INT64_T, rank, WORK, MPI_COMM_WORLD);
  return true;
}

static void give_up_silent(office *o) {
  double patience = fmax(10, 20 * o->longest);
  for (int rank = 1; rank < o->ranks; ++rank) {
    if (o->gone[rank] || now() - o->heard[rank] < patience) continue;
    (void)fprintf(stderr, "tabi-sweep-mpi: rank %d is silent for %.0f s and given up\n", rank,
                  now() - o->heard[rank]);
    o->gone[rank] = true;
    if (o->under_way[rank] != NO_MORE) o->lost[o->nlost++] = o->under_way[rank];
    o->under_way[rank] = NO_MORE;
  }
}

static bool anybody(const office *o) {
  for (int rank = 1; rank < o->ranks; ++rank) {
    if (!o->gone[rank]) return true;
  }
  return false;
}

/* Alone, or left alone: the rest is done here. */
static bool finish_alone(office *o, tabi_error *err) {
  for (int64_t run = next_run(o); run != NO_MORE; run = next_run(o)) {
    tabi_study_row row = {.measure = o->number + HEAD};
    if (tabi_results_has(o->results, run)) continue;
    if (tabi_study_run(o->study, run, NULL, &row, err) != TABI_OK ||
        tabi_results_add(o->results, &row, err) != TABI_OK)
      return false;
    ++o->done;
  }
  return true;
}

static bool hand_out(office *o, tabi_error *err) {
  const struct timespec nap = {0, 200000};
  while (anybody(o)) {
    int there = 0;
    MPI_Status status;
    if (MPI_Iprobe(MPI_ANY_SOURCE, ROW, MPI_COMM_WORLD, &there, &status) == MPI_SUCCESS && there) {
      if (!serve(o, status.MPI_SOURCE, err)) return false;
      continue;
    }
    give_up_silent(o);
    (void)nanosleep(&nap, NULL);
  }
  return finish_alone(o, err);
}

static int office_run(office *o) {
  tabi_error err = {0};
  size_t ranks = (size_t)o->ranks;
  o->lost = calloc(ranks, sizeof *o->lost);
  o->under_way = calloc(ranks, sizeof *o->under_way);
  o->heard = calloc(ranks, sizeof *o->heard);
  o->gone = calloc(ranks, sizeof *o->gone);
  int code = 1;
  if (o->lost && o->under_way && o->heard && o->gone) {
    for (int rank = 0; rank < o->ranks; ++rank) {
      o->heard[rank] = now();
      o->under_way[rank] = NO_MORE;
    }
    code = hand_out(o, &err) ? 0 : complain(&err);
  }
  free(o->lost);
  free(o->under_way);
  free(o->heard);
  free(o->gone);
  return code;
}

static int lead(const tabi_study *study, const char *out, int count, int ranks) {
  tabi_error err = {0};
  tabi_results *results = tabi_results_create(out, study, &err);
  if (!results) return complain(&err);
  office o = {.study = study, .results = results, .count = count, .ranks = ranks};
  o.number = calloc((size_t)count, sizeof *o.number);
  int code = o.number ? office_run(&o) : 1;
  free(o.number);
  if (code == 0) {
    (void)printf("%" PRId64 " of %" PRId64 " runs in %s, %" PRId64 " of them now, by %d ranks\n",
                 tabi_results_count(results), tabi_study_nrun(study), out, o.done, ranks);
  }
  tabi_results_close(results);
  return code;
}

/* -- the program */

static int run(const char *path, const char *out) {
  int rank = 0;
  int ranks = 1;
  tabi_error err = {0};
  (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  tabi_study *study = tabi_study_load(path, NULL, &err);
  if (!study) return complain(&err);
  if (tabi_study_may_stop(study)) {
    if (rank == 0)
      (void)fprintf(stderr, "%s:1: error: a study with `stop` runs in one sweep\n", path);
    tabi_study_destroy(study);
    return 3;
  }
  int count = HEAD + tabi_study_nmeasure(study);
  int code = rank == 0 ? lead(study, out, count, ranks) : do_runs(study, count);
  tabi_study_destroy(study);
  return code;
}

static volatile sig_atomic_t exit_code;

static void leave(int signal) {
  (void)signal;
  _exit((int)exit_code);
}

/* MPI waits there for ranks that died, sometimes for ever; all rows are in the file by now. */
static int finalize(int code) {
  enum { PATIENCE = 5 }; /* s */
  exit_code = code;
  (void)signal(SIGALRM, leave);
  (void)alarm(PATIENCE);
  (void)MPI_Finalize();
  return code;
}

int main(int argc, char **argv) {
  if (argc != 4 || strcmp(argv[2], "--out") != 0) {
    (void)fputs(
        "usage: mpirun --enable-recovery tabi-sweep-mpi STUDY --out F\n\n"
        "Does the runs of a study by all ranks, as `tabi sweep` does by threads. Runs that F\n"
        "has are not done again. A rank that dies costs the run it was at.\n",
        stderr);
    return 2;
  }
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) return 1;
  return finalize(run(argv[1], argv[3]));
}

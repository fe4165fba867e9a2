/* process.h - another program, talked to by pipes. */
#ifndef TBI_BENCH_PROCESS_H
#define TBI_BENCH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct tbi_process {
  pid_t pid;
  FILE *to, *from; /* its standard input and output; its standard error is ours */
} tbi_process;

/* Looks argv[0] up in PATH; argv ends with NULL. */
bool tbi_process_start(tbi_process *process, const char *const *argv);
/* Closes its input, waits for its end and says whether it ended well. */
bool tbi_process_stop(tbi_process *process);

/* The path of a peer's program, which stands beside this one; false: it is not there. */
bool tbi_process_beside(const char *peer, char *path, size_t size);
/* Starts a peer's program and waits for its greeting "ready ENGINE".  On failure there is nothing
 * to stop, and the reason is in `trouble`. */
bool tbi_process_greet(tbi_process *process, const char *const *argv, char engine[64],
                       char *trouble, size_t size);
/* One question, one line of n numbers.  A program that does not answer within minutes is
 * ended. */
bool tbi_process_ask(tbi_process *process, const char *question, double *x, int32_t n);

/* A new file for a peer, in TMPDIR, its name ending as asked; NULL: it cannot be made, and the name
 * is empty. */
FILE *tbi_process_file(char name[256], const char *ending);

/* The file this program runs from; false if the system does not tell. */
bool tbi_process_self(char *path, size_t size);

#endif

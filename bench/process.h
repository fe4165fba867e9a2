/* process.h - another program, talked to by pipes. */
#ifndef TBI_BENCH_PROCESS_H
#define TBI_BENCH_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
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

/* The file this program runs from; false if the system does not tell. */
bool tbi_process_self(char *path, size_t size);

#endif

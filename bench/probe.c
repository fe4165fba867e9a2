/* probe.c - threads that only multiply and add.
 *
 * Two threads of a machine need not be twice as fast as one: its processors may be halves of one,
 * slow down together, or belong to others now and then.  What arithmetic alone gains by threads is
 * what other programs can be measured against. */
#include "probe.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

enum { ROUNDS = 3000000, WIDTH = 64, MAX_PROBED = 256 };

/* chains enough to keep the units for arithmetic busy */
static void *multiply(void *argument) {
  double *result = argument;
  double x[WIDTH];
  for (int k = 0; k < WIDTH; ++k)
    x[k] = 1e-3 * (k + *result);
  for (int i = 0; i < ROUNDS; ++i)
    for (int k = 0; k < WIDTH; ++k)
      x[k] = x[k] * 0.999 + 1e-3;
  for (int k = 0; k < WIDTH; ++k)
    *result += x[k];
  return NULL;
}

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double tbi_bench_probe(int32_t threads) {
  pthread_t other[MAX_PROBED];
  double result[MAX_PROBED] = {0};
  int32_t made = 1;
  double start = now();
  while (made < threads && made < MAX_PROBED &&
         pthread_create(&other[made], NULL, multiply, &result[made]) == 0)
    ++made;
  (void)multiply(&result[0]);
  for (int32_t i = 1; i < made; ++i)
    (void)pthread_join(other[i], NULL);
  double time = now() - start;
  double sum = 0;
  for (int32_t i = 0; i < made; ++i)
    sum += result[i];
  return made == threads && sum > 0 ? time : (double)NAN;
}

/* measure.h - time and instructions of many calls. */
#ifndef TBI_BENCH_MEASURE_H
#define TBI_BENCH_MEASURE_H

#include <stdint.h>

enum { TBI_MEASURE_BLOCKS = 41 };

/* Something that can be called again and again. */
typedef struct tbi_subject {
  double (*run)(void *self, int32_t calls); /* seconds of CPU time for so many calls; NAN: failed */
  void *self;
  int32_t unit;        /* a block makes a multiple of so many calls; 0: any number */
  int32_t calls;       /* of one block */
  double best, median; /* seconds of one call */
  double times[TBI_MEASURE_BLOCKS];
} tbi_subject;

/* Keep this process and its children on the processor it runs on now. */
void tbi_measure_pin(void);

/* CPU time of this thread, s. */
double tbi_measure_clock(void);

/* Fills calls, best and median of every subject.  Blocks of all subjects alternate, so that a
 * slow moment of the machine falls on all of them alike. */
void tbi_measure_time(tbi_subject *subjects, int32_t count);

/* Instructions in user space for one call, or NAN where the machine does not count them. */
double tbi_measure_instructions(const tbi_subject *subject);

#endif

/* report.h - measured rows as a table or as JSON. */
#ifndef TBI_BENCH_REPORT_H
#define TBI_BENCH_REPORT_H

#include "tree.h"

/* NAN where something was not measured. */
typedef struct tbi_row {
  char name[48];        /* "dynamics/chain100/aba" */
  const char *tree;     /* "chain100" */
  const char *function; /* "aba" */
  tbi_bench_tree_shape shape;
  int32_t links, dof;
  double us, us_median; /* microseconds of one call */
  double us_alone;      /* the same without the kinematics */
  double instructions;  /* of one call */
  double error;         /* relative; what of, says docs/bench.md */
  double peer_us, peer_us_median;
} tbi_row;

typedef struct tbi_report {
  tbi_row *rows;
  int32_t nrow, capacity;
  char engine[64]; /* the peer's name and version; "" without */
} tbi_report;

/* An empty row at the end, or NULL without memory. */
tbi_row *tbi_report_add(tbi_report *report);
void tbi_report_free(tbi_report *report);

/* The table: the rows of the tree added last, and at the end the growth with the links. */
void tbi_report_print_tree(const tbi_report *report, int32_t first_row);
void tbi_report_print_growth(const tbi_report *report);

/* Everything as one object; false if it could not be written. */
bool tbi_report_print_json(const tbi_report *report);

/* The exponent p of time (or instructions) ~ links^p over trees of at least 50 links, by least
 * squares of the logarithms; NAN with fewer than three trees. */
double tbi_report_growth(const tbi_report *report, tbi_bench_tree_shape shape, const char *function,
                         bool instructions);

#endif

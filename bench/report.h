/* report.h - measured rows as a table or as JSON. */
#ifndef TBI_BENCH_REPORT_H
#define TBI_BENCH_REPORT_H

#include <stdbool.h>
#include <stdint.h>

/* NAN where something was not measured. */
typedef struct tbi_row {
  char name[48];        /* "dynamics/chain100/aba" */
  const char *subject;  /* "chain100" */
  const char *function; /* "aba" */
  const char *series;   /* subjects that differ only in size: "chain"; NULL: alone */
  double size;          /* links, or contacts */
  int32_t links, dof;
  double us, us_median; /* microseconds of one call */
  double us_alone;      /* the same without the kinematics */
  double instructions;  /* of one call */
  double error;         /* relative; what of, says docs/bench.md */
  double contacts, iterations;
  double depth;                   /* m, the largest penetration */
  double deepest;                 /* m, the same over a whole run, depth being that at its end */
  double residual;                /* m/s, of the contact laws */
  double cone;                    /* N, friction beyond the cone */
  double step;                    /* s, the largest successful time step */
  double gap;                     /* m, by which joints are open */
  double energy;                  /* energy error over kinetic energy */
  double memory;                  /* bytes, of a world of tabi */
  double speed;                   /* the fastest velocity: is it at rest? */
  double steps;                   /* that an engine made before or during its time */
  int32_t worlds, threads, lanes; /* of the workload batch; worlds 0: another workload */
  double per_second;              /* steps of a robot a second and core */
  double ratio;                   /* to the peer's */
  double scaling, probe;          /* speed of all threads over that of one; of arithmetic alone */
  char engine[64]; /* name and version, of a row that is an engine's own; "": tabi's */
  const char *settings;
  char note[160]; /* why numbers are missing, or what they do not cover; "": nothing to say */
  double peer_us, peer_us_median, peer_contacts, peer_iterations, peer_depth;
} tbi_row;

typedef struct tbi_report {
  tbi_row *rows;
  int32_t nrow, capacity;
  char engine[64]; /* the peer's name and version; "" without */
} tbi_report;

/* An empty row at the end, or NULL without memory. */
tbi_row *tbi_report_add(tbi_report *report);
void tbi_report_free(tbi_report *report);

/* The table: the rows of the subject added last, with a head above the first. */
void tbi_report_print_dynamics(const tbi_report *report, int32_t first_row, bool head);
void tbi_report_print_contact(const tbi_report *report, int32_t first_row, bool head);
void tbi_report_print_engines(const tbi_report *report, int32_t first_row, bool head);
/* How cost grows with the size of the rows of one workload, and the name of the peer. */
void tbi_report_print_growth(const tbi_report *report, int32_t first_row, const char *unit);

/* Everything as one object; false if it could not be written. */
bool tbi_report_print_json(const tbi_report *report);

#endif

/* loop_rows.h - loop constraints as rows of Gauss-Seidel sweeps, for methods that do not have them
 * eliminated (loops.h).
 *
 * Every loop constraint is an unknown, its impulse, without bounds.  Rows read and write
 * problem->sum, as joint rows do.  An impulse is zero at the start of each step, (15) of P4. */
#ifndef TBI_LOOP_ROWS_H
#define TBI_LOOP_ROWS_H

#include "problem/setup.h"

/* Makes problem.loop_row from loops.loop; no cluster has tails. */
void tbi_loop_rows_fill(tbi_setup *s);
/* Adds their impulses to problem->sum. */
void tbi_loop_rows_start(tbi_problem *p);
/* Gauss-Seidel update of every row in turn; problem->sum must be up to date.  Returns the largest
 * change of a velocity. */
double tbi_loop_rows_visit(tbi_problem *p);
/* Impulses, and what they miss of the targets, back to loops.loop. */
void tbi_loop_rows_finish(tbi_setup *s);

#endif

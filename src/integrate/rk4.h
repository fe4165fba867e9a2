/* rk4.h - the classical Runge-Kutta step of fourth order. */
#ifndef TBI_RK4_H
#define TBI_RK4_H

#include "model/model.h"

/* Acceleration at a state. */
typedef void tbi_accelerate_fn(void *user, const double *q, const double *v, double *qdd);

/* What moves and how. */
typedef struct tbi_motion {
  const tabi_model *model;
  tbi_accelerate_fn *accelerate;
  void *user;
  double *scratch; /* [tbi_rk4_scratch] */
} tbi_motion;

int64_t tbi_rk4_scratch(const tabi_model *model);
/* The classical Runge-Kutta step of fourth order from q, v; quaternions are integrated as numbers
 * and made unit at the end, which keeps the order. */
void tbi_rk4(const tbi_motion *motion, double h, const double *q, const double *v, double *q_to,
             double *v_to);

#endif

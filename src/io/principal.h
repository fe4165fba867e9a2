/* principal.h - principal moments and axes of an inertia. */
#ifndef TBI_PRINCIPAL_H
#define TBI_PRINCIPAL_H

#include "math/mat.h"

typedef struct tbi_principal {
  double value[3]; /* in no particular order */
  m3 axes;         /* rotation to them: columns */
} tbi_principal;

/* By Jacobi's rotations. */
tbi_principal tbi_principal_of(s3 inertia);
/* The inertia with these moments and axes. */
s3 tbi_principal_inertia(const tbi_principal *principal);

#endif

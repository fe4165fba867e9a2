/* p2_situations.h - what P2 says of its method beside the falling box: that it runs with steps of
 * 1 ms in most situations, and in time linear in the number of links. */
#ifndef TBI_P2_SITUATIONS_H
#define TBI_P2_SITUATIONS_H

#include "experiment.h"

/* Criteria of both variants: a figure of 40 degrees of freedom stands, ten boxes stay on top of
 * each other, chains of up to 400 links lie on the floor. */
tabi_status tbi_p2_check_situations(tbi_trial *trial, tabi_error *err);

#endif

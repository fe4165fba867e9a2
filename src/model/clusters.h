/* clusters.h - which trees are tied together, made once for a model. */
#ifndef TBI_CLUSTERS_H
#define TBI_CLUSTERS_H

#include "model/model.h"

/* How many numbers of the velocity a connection holds. */
int32_t tbi_connection_ties(const tabi_connection_def *def);
/* The cluster that a connection, coupling or tendon acts in; TABI_NONE: nothing of it can move. */
int32_t tbi_connection_cluster(const tabi_model *model, int32_t connection);
int32_t tbi_coupling_cluster(const tabi_model *model, int32_t coupling);
int32_t tbi_tendon_cluster(const tabi_model *model, int32_t tendon);

/* What loop constraints belong to: connections, then couplings, then tendons.  The cluster of one,
 * TABI_NONE if it never has a loop constraint; and how many it has at most. */
int32_t tbi_owner_cluster(const tabi_model *model, int32_t owner);
int32_t tbi_owner_ties(const tabi_model *model, int32_t owner);

void tbi_fill_clusters(tabi_model *model);

#endif

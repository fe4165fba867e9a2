/* named_order.h - an order of trees, bodies, shapes and loop constraints that does not depend on
 * the order of a file. */
#ifndef TBI_NAMED_ORDER_H
#define TBI_NAMED_ORDER_H

#include "model/model.h"

/* Fills tree_named, shape_named, shape_rank and owner_named; needs links, bodies, shapes and
 * meshes. */
void tbi_fill_named_order(tabi_model *model);
/* Fills body_named; needs the clusters of trees as well. */
void tbi_fill_named_bodies(tabi_model *model);

#endif

/* builder_addition.h - what was added to a builder, kept to be added to others as it is.
 *
 * Items name each other by their numbers, so it fits a builder that holds as many of each kind
 * as the first one did before. */
#ifndef TBI_BUILDER_ADDITION_H
#define TBI_BUILDER_ADDITION_H

#include "model/builder.h"

typedef struct tbi_addition tbi_addition;

tbi_builder_mark tbi_builder_mark_now(const tabi_builder *builder);
/* What was added since; NULL: out of memory. */
tbi_addition *tbi_addition_create(const tabi_builder *builder, const tbi_builder_mark *since);
void tbi_addition_destroy(tbi_addition *addition); /* NULL is fine */
/* Whether it would be the same again here, as far as what is there already decides: how much there
 * is, names of materials and postures, and the numbers of materials that the addition pairs. */
bool tbi_addition_fits(const tbi_addition *addition, const tabi_builder *builder);
/* The addition must outlive the builder, which borrows its meshes.  False after an error of the
 * builder. */
bool tbi_addition_add(const tbi_addition *addition, tabi_builder *builder);

#endif

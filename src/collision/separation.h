/* separation.h - pairs that are known to be apart.
 *
 * The links of a robot are near each other all the time and hardly ever touch.  A direction in
 * which two shapes are separated is kept from pass to pass, with the distance along it; until the
 * two bodies have moved by as much, nothing needs to be measured again.  What is kept saves time
 * and changes nothing: a pair is passed over only where a measurement would find no point. */
#ifndef TBI_SEPARATION_H
#define TBI_SEPARATION_H

#include "collision/workspace.h"

/* Numbers of entries for the pairs of a model, a power of two or 0. */
int32_t tbi_separation_count(const tabi_model *model);
void tbi_separation_make(tbi_collision *c);

/* How far points of a shape are from the origin of its body, at most. */
double tbi_cover_extent(const tbi_cover *cover);

/* At the start of a pass: adds up how far bodies have moved. */
void tbi_separation_advance(tbi_collision *c, const tabi_dynamics *d);
/* Whether two items, one of them a limb, are known to be farther apart than the margin. */
bool tbi_separation_holds(tbi_collision *c, const tabi_dynamics *d, tbi_item_pair pair,
                          double margin);
/* Whether a measurement found points, after tbi_separation_holds() was false. */
void tbi_separation_learn(tbi_collision *c, tbi_item_pair pair, bool touches);

#endif

/* p5_models.h - a body or a robot over a floor, for impacts whose outcome can be worked out. */
#ifndef TBI_P5_MODELS_H
#define TBI_P5_MODELS_H

#include "p5.h"

/* A free ball or box of even density, and a floor at z = 0. */
tabi_model *tbi_p5_body(tabi_shape_type type, const double size[3], double mass,
                        const tbi_p5_surface *surface, tabi_error *err);
/* humanoid20 above the same floor, its joints without dampers, dry friction and limits; it does not
 * touch itself. */
tabi_model *tbi_p5_robot(const tbi_p5_surface *surface, tabi_error *err);
/* A world under the variant's method with steps of 1 ms, the paper's, or so many seconds, gravity
 * along -z; it owns the model, which may be NULL. */
tabi_status tbi_p5_open(tbi_simulation *sim, tabi_model *model, tbi_variant variant, double gravity,
                        tabi_error *err);
tabi_status tbi_p5_open_fine(tbi_simulation *sim, tabi_model *model, tbi_variant variant,
                             double gravity, double timestep, tabi_error *err);

#endif

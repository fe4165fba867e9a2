/* chain.h - links of chains that hang or stand on the floor, and the methods that hold them. */
#ifndef TABI_TESTS_CHAIN_H
#define TABI_TESTS_CHAIN_H

#include "support/scene_build.h"

#define LINK  0.1   /* m, from joint to joint */
#define MASS  0.1   /* kg, of a link */
#define CLEAR 0.005 /* m, from a joint to the ends of the cylinders beside it */

static const tabi_contact_kind rigid[] = {TABI_CONTACT_CONE, TABI_CONTACT_LCP, TABI_CONTACT_EXACT,
                                          TABI_CONTACT_IMPULSE};
#define RIGID (sizeof rigid / sizeof *rigid)

/* a link that hangs below its joint */
static int32_t add_link(scene *s, tabi_joint_def joint, int32_t material) {
  int32_t link = scene_link(s, MASS, v3_make(0, 0, -0.5 * LINK), v3_make(6e-5, 6e-5, 5e-6), joint);
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_CYLINDER;
  shape.link = link;
  shape.pos[2] = -0.5 * LINK;
  shape.size[0] = 0.01;
  shape.size[1] = LINK - 2 * CLEAR;
  shape.material = material;
  tabi_builder_add_shape(s->builder, &shape);
  return link;
}

#endif

/* tabi.h - contact dynamics for legged robots.
 *
 *   file or builder calls ---> tabi_model      immutable; share it between threads
 *                              tabi_world      everything a step may write; one thread at a time
 *                              tabi_dynamics   the rigid-body quantities of one state;
 *                                              one thread at a time
 *
 * SI units, right-handed, z up, quaternions (w, x, y, z), matrices row by row.  The library has
 * no global state but the handler of failed assertions, prints nothing but a failed assertion (the
 * default handler), and allocates only in functions named create, build, grow, load, check or
 * solve.
 *
 * Structs named _def are filled by their _default() function first; then change what you mean
 * to change.  Strings and arrays that a def points to are copied. */
#ifndef TABI_H
#define TABI_H

#define TABI_VERSION 100 /* major * 10000 + minor * 100 + patch */

#include "tabi_friction.h" /* IWYU pragma: export */
#include "tabi_model.h"    /* IWYU pragma: export */
#include "tabi_world.h"    /* IWYU pragma: export */

#endif

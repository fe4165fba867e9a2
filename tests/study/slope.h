/* slope.h - a study with a closed answer: a box on a slope of tan 0.3 slides if friction is less.
 */
#ifndef TABI_TESTS_SLOPE_H
#define TABI_TESTS_SLOPE_H

#define SLOPE_SCENE                                                                             \
  "timestep: 2e-3\n"                                                                            \
  "duration: 0.2\n"                                                                             \
  "contact: {friction: 0.5}\n"                                                                  \
  "bodies:\n"                                                                                   \
  "  - {name: slope, fixed: true, shape: {plane: {}}, rpy: [0, 0.29145679447786715, 0]}\n"      \
  "  - {name: box, mass: 1, shape: {box: [0.2, 0.2, 0.1]}, rpy: [0, 0.29145679447786715, 0],\n" \
  "     xyz: [0.01436739427, 0, 0.04789131426]}\n"

/* friction from 0.1 to 0.5: the box slides in half of the runs */
#define SLOPE_STUDY                                            \
  "scene: slope.yaml\n"                                        \
  "runs: 40\n"                                                 \
  "seed: 3\n"                                                  \
  "sampling: latin\n"                                          \
  "parameters:\n"                                              \
  "  friction: {set: contact.friction, uniform: [0.1, 0.5]}\n" \
  "  mass: {set: bodies.box.mass, log: [0.5, 2]}\n"            \
  "measures:\n"                                                \
  "  speed: {signal: box.vx, statistic: last}\n"               \
  "  moving: {when: \"box.vx > 0.05\"}\n"                      \
  "  lowest: {signal: box.z, statistic: min}\n"

#endif

/* peer.h - another engine, measured by tabi-bench-mujoco. */
#ifndef TBI_BENCH_PEER_H
#define TBI_BENCH_PEER_H

#include "kinematic_tree.h"
#include "mjcf.h"
#include "process.h"

typedef struct tbi_peer {
  tbi_process process;
  char engine[64]; /* name and version */
  char file[256];  /* the robot it was given */
} tbi_peer;

/* Starts the peer on a tree and makes sure that it is the same tree there.  On failure the peer
 * needs no stop, and the reason is in `trouble`. */
bool tbi_peer_start(tbi_peer *peer, const tbi_bench_tree *tree, char *trouble, size_t size);
/* The same for a world, from the one state of `def`; or from `file`, MJCF, if that is not NULL. */
bool tbi_peer_start_world(tbi_peer *peer, const tbi_mjcf_def *def, const char *file, char *trouble,
                          size_t size);
void tbi_peer_stop(tbi_peer *peer);

/* What a settled world of the peer looks like, over the steps that are measured. */
typedef struct tbi_peer_rest {
  double contacts, iterations; /* mean */
  double depth;                /* m, the largest penetration */
  double speed;                /* the fastest velocity of any joint */
} tbi_peer_rest;

/* Lets the peer step from its start; `hold`: with inputs at which its motors do not pull there.
 * Afterwards the function "step" runs from where it came to. */
bool tbi_peer_settle(tbi_peer *peer, double timestep, int32_t steps, bool hold,
                     tbi_peer_rest *rest);

/* Seconds of CPU time for so many calls of a function, or NAN if the peer has no such thing. */
double tbi_peer_run(tbi_peer *peer, const char *function, int32_t calls);

#endif

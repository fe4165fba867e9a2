/* peer.h - another engine, measured by tabi-bench-peers. */
#ifndef TBI_BENCH_PEER_H
#define TBI_BENCH_PEER_H

#include "process.h"
#include "tree.h"

typedef struct tbi_peer {
  tbi_process process;
  char engine[64]; /* name and version */
  char file[256];  /* the robot it was given */
} tbi_peer;

/* Starts the peer on a tree and makes sure that it is the same tree there.  On failure the peer
 * needs no stop, and the reason is in `trouble`. */
bool tbi_peer_start(tbi_peer *peer, const tbi_bench_tree *tree, char *trouble, size_t size);
void tbi_peer_stop(tbi_peer *peer);

/* Seconds of CPU time for so many calls of a function, or NAN if the peer has no such thing. */
double tbi_peer_run(tbi_peer *peer, const char *function, int32_t calls);

#endif

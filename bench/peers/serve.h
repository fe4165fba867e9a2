/* serve.h - what every peer program has in common: it reads a neutral scene and answers questions
 * about it line by line.
 *
 *   tabi-bench-NAME SCENE SETTINGS [MJCF]
 *     (at the start)        "ready NAME VERSION" or "error REASON"
 *     reset                 back to the start; answers "0"
 *     step N SECONDS        steps, fewer if they take so much CPU time: steps made, seconds, mean
 *                           contacts
 *     push BODY X Y Z       a force at the body's com in all steps from now on; answers "0"
 *     state                 answers "0" and after the line tbi_neutral_state of all bodies, as
 * bytes count                 instructions of a step, or nan */
#ifndef TBI_BENCH_SERVE_H
#define TBI_BENCH_SERVE_H

#include "../engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The whole of a peer's main. */
int tbi_peer_serve(int argc, char **argv, const tbi_engine *engine);

#ifdef __cplusplus
}
#endif

#endif

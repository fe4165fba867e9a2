/* input.h - files that a command reads by itself, and what is in them. */
#ifndef TBI_INPUT_H
#define TBI_INPUT_H

#include "common/cli.h"

typedef enum tbi_input_kind {
  TBI_INPUT_UNKNOWN,
  TBI_INPUT_SCENE,
  TBI_INPUT_MODEL, /* of a robot */
  TBI_INPUT_MESH,
  TBI_INPUT_LOG,
} tbi_input_kind;

/* Opens a regular file; pipes, devices and folders are refused at once.  NULL: *err says why. */
FILE *tbi_input_open(const char *path, tabi_error *err);

/* By its first bytes, and where these do not tell by its ending. */
tbi_input_kind tbi_input_kind_of(const char *path);

/* After a file could not be understood: says so if it is of another kind than the command wants. */
void tbi_input_explain(const char *path, tbi_input_kind wanted, tabi_error *err);

#endif

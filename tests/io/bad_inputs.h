/* bad_inputs.h - robot files that must be refused, and what must be said about them.
 *
 * One table for the library and for the command. */
#ifndef TABI_TESTS_BAD_INPUTS_H
#define TABI_TESTS_BAD_INPUTS_H

#include <stddef.h>

/* What a refusal may take; sanitizers are slow. */
#define BAD_INPUT_SECONDS (TEST_SHORT ? 5.0 : 1.0)

typedef struct bad_input {
  const char *file;               /* with its extension */
  const char *text;               /* NULL: made by `make` */
  void (*make)(const char *file); /* also for what must stand beside the text */
  int line;                       /* that is to blame */
  const char *words;              /* in the message */
} bad_input;

extern const bad_input bad_inputs[];
extern const size_t bad_input_count;

/* Robots with something to warn of, but good enough to compute with. */
extern const bad_input odd_inputs[];
extern const size_t odd_input_count;

/* Robots that must be repaired, or be refused where the caller is strict; the words name the fault.
 */
extern const bad_input repaired_inputs[];
extern const size_t repaired_input_count;

/* Writes the file into the scratch folder and returns its path. */
const char *bad_input_write(const bad_input *input);

#endif

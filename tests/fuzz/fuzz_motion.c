/* fuzz_motion.c - any text as a file of joint motion: .seq if it begins with a letter, else .pos.
 */
#include "io/motion_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { // NOLINT: its name, not ours
  static const char *const names[] = {"a", "b", NULL, "d"};
  tabi_error error = {0};
  tbi_csv csv;
  char *text = malloc(size + 1);
  if (!text) abort();
  memcpy(text, data, size);
  text[size] = '\0';
  const char *path = size > 0 && text[0] >= 'a' ? "/no/x.seq" : "/no/x.pos";
  tabi_status status = tbi_motion_file_read_text(text, size, path, names, 4, &csv, &error);
  if (status != TABI_OK && error.message[0] == '\0') abort();
  tbi_csv_free(&csv);
  free(text);
  return 0;
}

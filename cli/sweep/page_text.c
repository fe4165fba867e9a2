/* page_text.c - characters that mean something in HTML, by their names. */
#include "sweep/page_text.h"

void tbi_page_text(FILE *out, const char *text) {
  for (; *text; ++text) {
    const char *as = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
    if (as) (void)fputs(as, out);
    if (!as) (void)fputc(*text, out);
  }
}

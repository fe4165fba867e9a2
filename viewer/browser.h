/* browser.h - opens the browser of the desktop. */
#ifndef TBI_VIEWER_BROWSER_H
#define TBI_VIEWER_BROWSER_H

#include <stdbool.h>

/* Whether there is a screen to show a browser on. */
bool tbi_browser_has_display(void);
/* Opens an address by xdg-open, without waiting; false if that is not installed. */
bool tbi_browser_open(const char *url);

#endif

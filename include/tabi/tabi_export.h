/* tabi_export.h - what a public declaration is wrapped in. */
#ifndef TABI_EXPORT_H
#define TABI_EXPORT_H

#if defined(__GNUC__)
#define TABI_API __attribute__((visibility("default")))
#else
#define TABI_API
#endif

#ifdef __cplusplus
#define TABI_BEGIN extern "C" {
#define TABI_END   }
#else
#define TABI_BEGIN
#define TABI_END
#endif

#endif

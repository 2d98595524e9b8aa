/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_CLEANUP_H
#define MMB_CLEANUP_H

/*
 * Scope-bound release of local variables, and small helpers around ownership.
 *
 * A local that owns something is declared with one of the _cleanup_ attributes; handing it on is `TAKE_PTR(p)` or
 * `TAKE_FD(fd)`. Every destructor accepts NULL (or -1).
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))
#define _unused_ __attribute__((unused))
#define _warn_unused_ __attribute__((warn_unused_result))

/* Defines the cleanup function `<func>p` of a pointer type whose destructor is `func`. */
#define DEFINE_CLEANUP(type, func)                                                                 \
	static inline void func##p(type *p)                                                        \
	{                                                                                          \
		if (*p)                                                                            \
			func(*p);                                                                  \
	}                                                                                          \
	struct func##_cleanup_needs_semicolon

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline int close_fd(int fd)
{
	if (fd >= 0) {
		int saved = errno;
		(void)close(fd);
		errno = saved;
	}
	return -1;
}

static inline void cleanup_close(int *fd)
{
	(void)close_fd(*fd);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

static inline void cleanup_closedir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_close_ _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)
#define _cleanup_closedir_ _cleanup_(cleanup_closedir)

#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

static inline int take_fd(int *fd)
{
	int taken = *fd;
	*fd = -1;
	return taken;
}
#define TAKE_FD(fd) take_fd(&(fd))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* Makes room for one more element in a growing array; returns 0 or -ENOMEM. `items` is a pointer to the array pointer. */
int grow_array(void *items, size_t *capacity, size_t used, size_t item_size);

#endif

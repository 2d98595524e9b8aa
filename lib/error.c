// SPDX-License-Identifier: GPL-2.0-or-later
#include "lib/error.h"

#include "lib/str.h"

void error_done(struct error *err)
{
	free(err->message);
	*err = ERROR_INIT;
}

static void error_store(struct error *err, int code, char *message)
{
	free(err->message);
	err->code = code;
	err->message = message;
}

int error_set(struct error *err, int code, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	if (!err)
		return code;
	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	error_store(err, code, str_take(&s));
	return code;
}

int error_errno(struct error *err, int code, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	if (!err)
		return code;
	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	(void)str_addf(&s, ": %s", strerror(-code));
	error_store(err, code, str_take(&s));
	return code;
}

int error_prefix(struct error *err, const char *format, ...)
{
	_cleanup_str_ struct str s = STR_INIT;
	va_list ap;

	if (!err)
		return -EINVAL;
	va_start(ap, format);
	(void)str_vaddf(&s, format, ap);
	va_end(ap);
	(void)str_addf(&s, ": %s", error_text(err));
	error_store(err, err->code, str_take(&s));
	return err->code;
}

const char *error_text(const struct error *err)
{
	if (err->message)
		return err->message;
	return err->code ? strerror(-err->code) : "no error";
}

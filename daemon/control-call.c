// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/control-internal.h"

#include "daemon/control.h"
#include "lib/str.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>

#define REPLY_SECONDS 60

int control_address(const char *path, int *ret_dir, struct sockaddr_un *ret)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash ? strndup(path, (size_t)(slash - path)) : strdup(".");
	int n;

	if (!folder)
		return -ENOMEM;
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	*ret_dir = open(*folder ? folder : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*ret_dir < 0)
		return -errno;
	n = snprintf(ret->sun_path, sizeof(ret->sun_path), "/proc/self/fd/%d/%s", *ret_dir, slash ? slash + 1 : path);
	if (n < 0 || (size_t)n >= sizeof(ret->sun_path)) {
		*ret_dir = close_fd(*ret_dir);
		return -ENAMETOOLONG;
	}
	return 0;
}

static int connect_to(const char *path, struct error *err, int *ret)
{
	_cleanup_close_ int dir = -1, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	int r = fd < 0 ? -errno : control_address(path, &dir, &address);

	if (r >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		r = -errno;
	if (r == -ENOENT || r == -ECONNREFUSED || r == -ENOTDIR)
		return error_set(err, -ENOTCONN, "no mmbisectd listens on %s (--state is the folder of its configuration)", path);
	if (r < 0)
		return error_errno(err, r, "%s", path);
	*ret = TAKE_FD(fd);
	return 0;
}

/* The line that comes back. */
static int receive(int fd, const char *path, struct error *err, json_t **ret)
{
	struct json_lines lines = JSON_LINES_INIT(CONTROL_LINE_MAX);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char block[4096];
	int r = 0;

	while (r == 0 && poll(&wait, 1, REPLY_SECONDS * 1000) > 0) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n <= 0)
			break;
		r = json_lines_feed(&lines, block, (size_t)n);
		if (r >= 0)
			r = json_lines_next(&lines, ret);
	}
	json_lines_done(&lines);
	if (r <= 0)
		return error_set(err, -EIO, "no answer on %s", path);
	return 0;
}

int control_call(const char *path, const json_t *request, struct error *err, json_t **ret_reply)
{
	_cleanup_close_ int fd = -1;
	_cleanup_json_ json_t *reply = NULL;
	int r = connect_to(path, err, &fd);

	if (r < 0)
		return r;
	r = json_write_line(fd, request);
	if (r < 0)
		return error_errno(err, r, "%s", path);
	r = receive(fd, path, err, &reply);
	if (r < 0)
		return r;
	if (!str_eq(json_get_string(reply, "status"), "ok")) {
		const char *why = json_get_string(reply, "error");

		return error_set(err, json_get_int(reply, "exit", 3) == 2 ? -EINVAL : -EIO, "%s", why ? why : "refused");
	}
	*ret_reply = TAKE_PTR(reply);
	return 0;
}

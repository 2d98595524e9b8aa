// SPDX-License-Identifier: GPL-2.0-or-later
#include "port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PORTS_DIR "/sys/class/virtio-ports"
#define TRIES 500
#define TRY_NS 10000000

/* Whether the virtio port `entry` bears `name`. */
static int port_is_called(const char *entry, const char *name)
{
	char path[sizeof(PORTS_DIR) + NAME_MAX + sizeof("//name")], text[128];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), PORTS_DIR "/%s/name", entry);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return !strcmp(text, name);
}

static int open_named_once(const char *name)
{
	char path[sizeof("/dev/") + NAME_MAX];
	struct dirent *entry;
	int fd = -ENOENT;
	DIR *dir = opendir(PORTS_DIR);

	if (!dir)
		return -errno;
	while (fd == -ENOENT && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !port_is_called(entry->d_name, name))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	closedir(dir);
	return fd;
}

/* The host tells the names of its ports in its own time: they may come late. */
static int open_named(const char *name)
{
	const struct timespec wait = {0, TRY_NS};
	int fd = -ENOENT;

	for (int i = 0; i < TRIES; i++) {
		fd = open_named_once(name);
		if (fd != -ENOENT)
			break;
		nanosleep(&wait, NULL);
	}
	return fd;
}

static int open_device(const char *path)
{
	struct termios tio;
	int fd = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (tcgetattr(fd, &tio) == 0) {
		cfmakeraw(&tio);
		cfsetspeed(&tio, B115200);
		tio.c_cflag |= CLOCAL;
		tcsetattr(fd, TCSANOW, &tio);
	}
	return fd;
}

int port_open(const char *port)
{
	static const char by_name[] = "name:";

	if (!strncmp(port, by_name, strlen(by_name)))
		return open_named(port + strlen(by_name));
	return open_device(port);
}

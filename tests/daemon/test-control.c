// SPDX-License-Identifier: GPL-2.0-or-later
/* The control socket: what is asked of it, what strangers to its language get, who may use it. */
#include "daemon/control-internal.h"
#include "daemon/control.h"
#include "lib/fs.h"
#include "lib/str.h"
#include "tap.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int echo(void *userdata, const char *verb, const json_t *request, const char *who, struct error *err, json_t **ret)
{
	(void)userdata;
	if (str_eq(json_get_string(request, "what"), "bad"))
		return error_set(err, -EINVAL, "this is bad");
	if (str_eq(json_get_string(request, "what"), "broken"))
		return error_errno(err, -EIO, "this is broken");
	*ret = json_pack("{s:s, s:s, s:b}", "verb", verb, "what", json_get_string(request, "what"), "who", *who != '\0');
	return 0;
}

static const struct control_verb verbs[] = { { "echo", echo }, { 0 } };

/* A server in a child, until it is killed. */
static pid_t serve(const char *path)
{
	_cleanup_error_ struct error err = ERROR_INIT;
	struct control *control;
	sd_event *loop = NULL;
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		if (sd_event_new(&loop) < 0 || control_open(loop, path, verbs, NULL, &err, &control) < 0) {
			printf("# %s\n", error_text(&err));
			_exit(1);
		}
		(void)!write(ready[1], "x", 1);
		(void)sd_event_loop(loop);
		_exit(0);
	}
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		printf("# no server\n");
	(void)close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}

static int connect_raw(const char *path)
{
	_cleanup_close_ int dir = -1;
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (control_address(path, &dir, &address) < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return close_fd(fd);
	return fd;
}

/* Everything that comes back for these bytes, to the end. */
static char *ask_raw(const char *path, const char *bytes, size_t len, bool shut)
{
	_cleanup_close_ int fd = connect_raw(path);
	_cleanup_str_ struct str reply = STR_INIT;
	char block[1024];
	ssize_t n;

	(void)!send(fd, bytes, len, MSG_NOSIGNAL);
	if (shut)
		(void)shutdown(fd, SHUT_WR);
	while ((n = read(fd, block, sizeof(block))) > 0)
		(void)str_add_mem(&reply, block, (size_t)n);
	return str_take(&reply);
}

static void test_calls(const char *path)
{
	_cleanup_json_ json_t *good = json_pack("{s:s, s:s}", "verb", "echo", "what", "h\xc3\xa9");
	_cleanup_json_ json_t *bad = json_pack("{s:s, s:s}", "verb", "echo", "what", "bad");
	_cleanup_json_ json_t *broken = json_pack("{s:s, s:s}", "verb", "echo", "what", "broken");
	_cleanup_json_ json_t *unknown = json_pack("{s:s}", "verb", "dance"), *none = json_pack("{s:i}", "verb", 7);
	_cleanup_json_ json_t *reply = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;

	is_int(control_call(path, good, &err, &reply), 0, "a call: %s", error_text(&err));
	is_str(json_get_string(reply, "what"), "h\xc3\xa9", "its answer");
	is_str(json_get_string(reply, "status"), "ok", "its status");
	ok(json_get_bool(reply, "who"), "with the peer's name");
	is_int(control_call(path, bad, &err, &reply), -EINVAL, "what a person does wrong");
	is_str(error_text(&err), "this is bad", "is told");
	is_int(control_call(path, broken, &err, &reply), -EIO, "what is broken here, too");
	is_int(control_call(path, unknown, &err, &reply), -EINVAL, "an unknown verb");
	is_str(error_text(&err), "unknown verb 'dance'", "is named");
	is_int(control_call(path, none, &err, &reply), -EINVAL, "no verb");
}

static void test_strangers(const char *path)
{
	static const struct {
		const char *bytes, *says, *title;
	} cases[] = {
		{ "hello\n", "one JSON object in one line", "no JSON" },
		{ "[1]\n", "one JSON object in one line", "no object" },
		{ "{\"verb\":\"echo\"", "one JSON object in one line", "half an object" },
		{ "{\"verb\":\"echo\",\"verb\":\"echo\"}\n", "one JSON object in one line", "a key twice" },
		{ "{\"verb\":\"echo\",\"what\":\"x\"}", "\"status\":\"ok\"", "the end of the stream ends the line" },
		{ "{\"verb\":\"echo\",\"what\":\"x\"}\n{}\n", "\"status\":\"ok\"", "only the first line counts" },
		{ "{\"verb\":\"\xff\"}\n", "one JSON object in one line", "bytes that are no UTF-8" },
	};
	_cleanup_free_ char *big = malloc(CONTROL_LINE_MAX + 100), *reply = NULL, *empty = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = ask_raw(path, cases[i].bytes, strlen(cases[i].bytes), true);

		if (!ok(text && strstr(text, cases[i].says), "%s", cases[i].title))
			printf("# %s\n", text ? text : "");
	}
	memset(big, 'x', CONTROL_LINE_MAX + 100);
	reply = ask_raw(path, big, CONTROL_LINE_MAX + 100, false);
	ok(reply && strstr(reply, "at most 65536 bytes"), "a line without an end");
	empty = ask_raw(path, "", 0, true);
	ok(empty && !*empty, "nothing is asked: nothing is said");
}

static void test_patience(const char *path)
{
	_cleanup_json_ json_t *good = json_pack("{s:s, s:s}", "verb", "echo", "what", "x"), *reply = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	_cleanup_free_ char *late = NULL;
	int idle[CONTROL_PEERS_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		idle[i] = connect_raw(path);
	is_int(control_call(path, good, &err, &reply), -EINVAL, "too many at a time");
	is_str(error_text(&err), "too many at a time: try again", "are told");
	for (size_t i = 0; i < ARRAY_SIZE(idle); i++)
		(void)close(idle[i]);
	for (int i = 0; i < 1000 && control_call(path, good, NULL, &reply) < 0; i++) /* it has not noticed yet */
		(void)usleep(1000);
	json_decref(TAKE_PTR(reply));
	late = ask_raw(path, "{\"verb\":", 8, false);
	ok(late && strstr(late, "nothing was asked for 5 seconds"), "who does not finish is not waited for");
	is_int(control_call(path, good, &err, &reply), 0, "then there is room again");
}

int main(void)
{
	_cleanup_(fs_rm_rf_free) char *dir = NULL;
	_cleanup_free_ char *folder = NULL, *path = NULL, *nowhere = NULL;
	_cleanup_json_ json_t *request = json_pack("{s:s}", "verb", "echo"), *reply = NULL;
	_cleanup_error_ struct error err = ERROR_INIT;
	struct stat st = { 0 };
	pid_t server;

	if (fs_mkdtemp(NULL, "mmbisect-test", &dir) < 0)
		return 1;
	folder = str_format("%s/%0100d", dir, 7); /* deeper than a socket address is long */
	path = str_format("%s/control.sock", folder);
	nowhere = str_format("%s/none/control.sock", folder);
	(void)fs_mkdir_p(folder, 0755);
	is_int(control_call(path, request, &err, &reply), -ENOTCONN, "no daemon");
	ok(strstr(error_text(&err), "no mmbisectd listens on "), "is told");
	is_int(control_call(nowhere, request, &err, &reply), -ENOTCONN, "no folder, either");
	server = serve(path);
	is_int(stat(path, &st), 0, "a socket in a deep folder");
	is_int(st.st_mode & 07777, 0600, "for its owner only");
	test_calls(path);
	test_strangers(path);
	test_patience(path);
	end(server);
	is_int(control_call(path, request, &err, &reply), -ENOTCONN, "a socket that a killed daemon left");
	server = serve(path);
	is_int(control_call(path, request, &err, &reply), 0, "is replaced by the next one");
	end(server);
	return done_testing();
}

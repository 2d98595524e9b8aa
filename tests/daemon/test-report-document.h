/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_TEST_REPORT_DOCUMENT_H
#define MMB_TEST_REPORT_DOCUMENT_H

/* A finding as the engine writes it, with figures that were measured (DESIGN.md, section 6), for the tests of the report. */
#include <jansson.h>
#include <stdlib.h>

#define OID_PARENT "7b5a0b664e2625965a0fdba2614c847c4b9f77c6"
#define OID_CULPRIT "f35b5d7d676e59e401690b678cd3cfec5e785c23"
#define OID_FIX "42b2af2c9b7eede8ef21d0943f84d135e21a32a3"
#define OID_BAD "0123456789abcdef0123456789abcdef01234567"
#define OID_GOOD "89abcdef0123456789abcdef0123456789abcdef"

#define EXACT1(unit, v) "{\"n\":1,\"median\":" v ",\"low\":" v ",\"high\":" v ",\"unit\":\"" unit "\",\"better\":\"lower\"," \
			"\"class\":\"exact\",\"values\":[" v "]}"
#define NOISY5(class, unit, values) "{\"n\":5,\"unit\":\"" unit "\",\"better\":\"lower\",\"class\":\"" class "\",\"values\":[" values "]}"
#define TIME5(values) NOISY5("time", "s", values)

#define ROW(row, label, oid, exact, time) \
	"{\"row\":\"" row "\",\"label\":\"" label "\",\"commit\":\"" oid "\",\"subject\":\"x\",\"status\":\"ok\",\"note\":null," \
	"\"metrics\":{\"exact\":{" exact "},\"time\":{" time "}}}"

#define DEMO_ROWS \
	"[" ROW("parent", "parent of the culprit", OID_PARENT, \
		"\"madvise_call\":" EXACT1("ns/call", "5709.0") ",\"thp_fault_alloc\":" EXACT1("events", "11") \
		",\"thp_deferred_split_page\":" EXACT1("events", "11") ",\"pgfault\":" EXACT1("events", "4310") \
		",\"pgmajfault\":" EXACT1("events", "0"), \
		"\"real\":" TIME5("1.61,1.66,1.70,1.72,1.81") ",\"user\":" TIME5("0.20,0.21,0.21,0.22,0.24") \
		",\"sys\":" TIME5("1.02,1.05,1.10,1.14,1.20") ",\"thp_split_page\":" NOISY5("count", "events", "0,0,0,0,0")) \
	"," ROW("culprit", "culprit", OID_CULPRIT, \
		"\"madvise_call\":" EXACT1("ns/call", "166997.0") ",\"thp_fault_alloc\":" EXACT1("events", "1210") \
		",\"thp_deferred_split_page\":" EXACT1("events", "99") ",\"pgfault\":" EXACT1("events", "4290") \
		",\"pgmajfault\":" EXACT1("events", "0"), \
		"\"real\":" TIME5("3.50,3.61,3.70,3.81,3.99") ",\"user\":" TIME5("0.20,0.21,0.22,0.22,0.23") \
		",\"sys\":" TIME5("4.30,4.51,4.82,5.02,5.30") ",\"thp_split_page\":" NOISY5("count", "events", "90,95,99,99,102")) \
	"," ROW("fixed", "culprit + fix", OID_FIX, \
		"\"madvise_call\":" EXACT1("ns/call", "152563.0") ",\"thp_fault_alloc\":" EXACT1("events", "1210") \
		",\"thp_deferred_split_page\":" EXACT1("events", "102") ",\"pgfault\":" EXACT1("events", "4290") \
		",\"pgmajfault\":" EXACT1("events", "0"), \
		"\"real\":" TIME5("3.40,3.55,3.66,3.70,3.90") ",\"user\":" TIME5("0.20,0.21,0.21,0.22,0.23") \
		",\"sys\":" TIME5("4.40,4.45,4.70,4.90,5.00") ",\"thp_split_page\":" NOISY5("count", "events", "90,97,99,101,102")) \
	"," ROW("reverted", "bad tip, culprit reverted", OID_BAD, \
		"\"madvise_call\":" EXACT1("ns/call", "5711.0") ",\"thp_fault_alloc\":" EXACT1("events", "11") \
		",\"thp_deferred_split_page\":" EXACT1("events", "11") ",\"pgfault\":" EXACT1("events", "4310") \
		",\"pgmajfault\":" EXACT1("events", "0"), \
		"\"real\":" TIME5("1.60,1.64,1.71,1.74,1.80") ",\"user\":" TIME5("0.20,0.20,0.21,0.22,0.25") \
		",\"sys\":" TIME5("1.01,1.06,1.09,1.16,1.19") ",\"thp_split_page\":" NOISY5("count", "events", "0,0,0,0,0")) \
	"]"

#define DEMO_DOCUMENT \
	"{\"kind\":\"bisect\",\"status\":\"ok\",\"verdict\":\"culprit\",\"culprit\":\"" OID_CULPRIT "\"," \
	"\"candidates\":[{\"commit\":\"" OID_CULPRIT "\",\"probability\":1.0}]," \
	"\"range\":{\"good\":\"" OID_GOOD "\",\"bad\":\"" OID_BAD "\"},\"tree\":\"demo\",\"ref\":\"refs/heads/master\"," \
	"\"workload\":\"thread-stack\",\"arch\":\"x86_64\",\"metric\":\"madvise_call\"," \
	"\"change\":{\"before\":5709,\"after\":166997,\"ratio\":29.25,\"low\":29.25,\"high\":29.25,\"unit\":\"ns/call\"," \
	"\"class\":\"exact\"},\"reason\":\"the only candidate that is left\"," \
	"\"commit\":{\"oid\":\"" OID_CULPRIT "\",\"subject\":\"mm: align larger anonymous mappings on THP boundaries\"," \
	"\"author\":\"Rik van Riel <riel@surriel.com>\",\"date\":\"2022-08-09T14:24:57Z\"," \
	"\"link\":\"https://lkml.kernel.org/r/20220809142457.4751229f@imladris.surriel.com\",\"parents\":[\"" OID_PARENT "\"]}," \
	"\"fix\":{\"oid\":\"" OID_FIX "\",\"subject\":\"mm/thp: check and bail out if page in deferred queue already\"," \
	"\"ref\":\"refs/heads/fixes\",\"found_by\":\"Fixes: trailer\"},\"verify\":" DEMO_ROWS "," \
	"\"steps\":[{\"commit\":\"" OID_GOOD "\",\"subject\":\"Linux 6.1.192 without the early return\",\"side\":\"good\",\"value\":5709}," \
	"{\"commit\":\"" OID_BAD "\",\"subject\":\"Documentation: mm: fix a typo in the THP document\",\"side\":\"bad\",\"value\":166997}," \
	"{\"commit\":\"" OID_FIX "\",\"subject\":\"mm: rename a local variable\",\"side\":\"skip\"," \
	"\"note\":\"build-failed: mm/mmap.c:12:3: error: use of undeclared identifier 'lenn'\"}," \
	"{\"commit\":\"" OID_PARENT "\",\"subject\":\"kernel/fork: comment\",\"side\":\"good\",\"value\":5709}," \
	"{\"commit\":\"" OID_CULPRIT "\",\"subject\":\"mm: align larger anonymous mappings on THP boundaries\",\"side\":\"bad\",\"value\":166997}]," \
	"\"bisect_log\":\"git bisect start\\n# bad: [" OID_BAD "] Documentation\\ngit bisect bad " OID_BAD "\\n" \
	"# good: [" OID_GOOD "] Linux 6.1.192\\ngit bisect good " OID_GOOD "\\n# first bad commit: [" OID_CULPRIT "] mm: align\\n\"," \
	"\"reproduce\":\"mmbisect bisect --repo linux --good 89abcdef0123 --bad 0123456789ab --workload thread-stack --arch x86_64\"," \
	"\"machines\":{\"exact\":\"exact-x86_64: QEMU 7.2.22 pc, TCG with instruction counting, qemu64, 1 vCPU, 512 MiB\"," \
	"\"time\":\"time-x86_64: QEMU 7.2.22 pc, TCG, qemu64, 2 vCPUs, 1024 MiB\"}," \
	"\"toolchain\":\"clang 14.0.6, ld.lld 14.0.6, make 4.3\",\"accelerator\":\"tcg: /dev/kvm cannot be opened: No such file or directory\"," \
	"\"cost\":{\"builds\":9,\"builds_saved\":3,\"boots\":31,\"seconds\":412.0}}"

static inline json_t *load(const char *text)
{
	json_error_t error;
	json_t *j = json_loads(text, 0, &error);

	if (!j) {
		printf("Bail out! test document: %d:%d %s\n", error.line, error.column, error.text);
		exit(1);
	}
	return j;
}

#endif

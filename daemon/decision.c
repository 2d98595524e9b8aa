// SPDX-License-Identifier: GPL-2.0-or-later
#include "daemon/decision.h"

const char *decision_verdict_name(enum judge_verdict verdict)
{
	static const char *const names[] = {
		[JUDGE_CULPRIT] = "culprit",
		[JUDGE_SET] = "set",
		[JUDGE_NOT_REPRODUCED] = "not-reproduced",
		[JUDGE_GAVE_UP] = "gave-up",
	};

	return names[verdict];
}

const char *decision_phase_name(enum judge_phase phase)
{
	static const char *const names[] = {
		[JUDGE_ANCHORS] = "anchors",
		[JUDGE_SEARCH] = "search",
		[JUDGE_CONFIRM] = "confirm",
		[JUDGE_EXPLAIN] = "explain",
	};

	return names[phase];
}

const char *decision_kind_name(enum judge_change_kind kind)
{
	static const char *const names[] = {
		[JUDGE_REGRESSION] = "regression",
		[JUDGE_IMPROVEMENT] = "improvement",
		[JUDGE_RECOVERED] = "recovered",
	};

	return names[kind];
}

const char *decision_class_name(enum judge_class cls)
{
	static const char *const names[] = {
		[JUDGE_EXACT] = "exact",
		[JUDGE_COUNT] = "count",
		[JUDGE_TIME] = "time",
	};

	return names[cls];
}

const char *decision_relation_name(enum judge_relation relation)
{
	static const char *const names[] = {
		[JUDGE_SAME] = "same",
		[JUDGE_WORSE] = "worse",
		[JUDGE_IMPROVED] = "improved",
		[JUDGE_UNCLEAR] = "unclear",
	};

	return names[relation];
}

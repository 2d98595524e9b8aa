/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef MMB_DECISION_H
#define MMB_DECISION_H

/* What the judge decides, by the words that stand for it in the database, the log and in documents. */
#include "daemon/judge/judge.h"

const char *decision_verdict_name(enum judge_verdict verdict);	  /* culprit, set, not-reproduced, gave-up */
const char *decision_phase_name(enum judge_phase phase);	  /* anchors, search, confirm, explain */
const char *decision_kind_name(enum judge_change_kind kind);	  /* regression, improvement, recovered */
const char *decision_class_name(enum judge_class cls);		  /* exact, count, time */
const char *decision_relation_name(enum judge_relation relation); /* same, worse, improved, unclear */

#endif

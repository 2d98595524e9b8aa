// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers, times and changes as a person reads them. Pure functions; every one takes what may be missing.

const digits = (n) => new Intl.NumberFormat("en", { maximumSignificantDigits: n });
const rounded = digits(4);
const short = digits(3);
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
const MINUS = "\u2212";

const isNumber = (x) => typeof x === "number" && Number.isFinite(x);

/** A measured value. Exact ones are given to the last digit that they have. */
export function value(x, exact = false) {
	if (!isNumber(x))
		return "–";
	const format = exact && Math.abs(x) >= 1 ? whole : rounded;
	return format.format(x).replace("-", MINUS);
}

/** after/before in short: "×29.3", "+27 %", "−3.1 %", "±0". */
export function change(before, after) {
	if (!isNumber(before) || !isNumber(after))
		return "";
	if (before === after)
		return "±0";
	const ratio = after / before;
	if (!isNumber(ratio) || ratio <= 0)
		return "";
	if (ratio >= 2 || ratio <= 0.5)
		return `×${short.format(ratio)}`;
	const percent = (ratio - 1) * 100;
	return `${percent < 0 ? MINUS : "+"}${short.format(Math.abs(percent))} %`;
}

/** The same in words: "29.3 times as high", "27 % higher", "3.1 % lower". */
export function changeWords(ratio) {
	if (!isNumber(ratio) || ratio <= 0)
		return "changed";
	if (ratio === 1)
		return "unchanged";
	if (ratio >= 2)
		return `${short.format(ratio)} times as high`;
	if (ratio <= 0.5)
		return `down to 1/${short.format(1 / ratio)}`;
	return `${short.format(Math.abs(ratio - 1) * 100)} % ${ratio > 1 ? "higher" : "lower"}`;
}

/** "4.1 s", "2 min 05 s", "1 h 12 min" */
export function duration(seconds) {
	if (!isNumber(seconds))
		return "–";
	if (seconds < 9.95 && !Number.isInteger(seconds))
		return `${seconds.toFixed(1)} s`;
	const s = Math.round(seconds);
	if (s < 60)
		return `${s} s`;
	if (s < 3600)
		return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
	const minutes = Math.round(s / 60);
	return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });

/** Local time of an ISO text; the text itself when it is no date. */
export function localTime(iso, onlyClock = false) {
	const date = new Date(iso);
	return Number.isNaN(date.getTime()) ? String(iso ?? "") : (onlyClock ? clock : dateTime).format(date);
}

export const shortOid = (oid) => String(oid ?? "").slice(0, 12);

export const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

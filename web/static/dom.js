// SPDX-License-Identifier: GPL-2.0-or-later
// Making and patching elements. Text becomes text nodes and nothing else: whatever a stranger wrote, it is never markup.

/** h("p", {class: "x"}, "text", node, [more], null): an element. Attributes that are null or false are left out. */
export function h(tag, attributes, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes ?? {}))
		if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : String(value));
	element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
	return element;
}

/** Controls that turn the order of characters around are shown as what they are: something that cannot be read. */
export const withoutBidi = (text) => String(text ?? "").replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

/** Text of a stranger: cut to a length, and isolated so that its writing direction stays inside. */
export function foreign(text, max = 300) {
	const string = withoutBidi(text);
	const cut = string.length > max ? `${string.slice(0, max).trimEnd()}…` : string;
	return h("bdi", { title: cut === string ? null : "shortened" }, cut);
}

function patchAttributes(old, fresh) {
	for (const { name } of [...old.attributes])
		if (!fresh.hasAttribute(name) && !(old.tagName === "DETAILS" && name === "open"))
			old.removeAttribute(name);
	for (const { name, value } of fresh.attributes)
		if (old.getAttribute(name) !== value)
			old.setAttribute(name, value);
}

function patchNode(old, fresh) {
	if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName) {
		old.replaceWith(fresh);
	} else if (old.nodeType === Node.TEXT_NODE) {
		if (old.data !== fresh.data)
			old.data = fresh.data;
	} else {
		patchAttributes(old, fresh);
		patchChildren(old, [...fresh.childNodes]);
	}
}

/** Makes the children of an element equal to fresh ones, touching only what differs: no flicker, focus and selection stay. */
export function patchChildren(element, fresh) {
	const old = [...element.childNodes];
	fresh.forEach((node, i) => (i < old.length ? patchNode(old[i], node) : element.append(node)));
	old.slice(fresh.length).forEach((node) => node.remove());
}

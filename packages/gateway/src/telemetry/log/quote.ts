/** A value of a `key=value` pair: as it is when it is plain, otherwise a JSON string on one line. */
export function textValue(value: string): string {
  return value.length > 0 && !NOT_PLAIN.test(value) ? value : quoted(value)
}

/** A JSON string in which nothing can break a line, move the cursor or turn the direction of the text. */
export function quoted(value: string): string {
  return NOT_PLAIN_JSON.test(value) ? escapeControls(JSON.stringify(value)) : `"${value}"`
}

/** Free text: spaces and quotes stay, what could break the line is written as an escape. */
export function escapeControls(text: string): string {
  return BREAKS_LINE.test(text) ? text.replace(EVERY_BREAK, toUnicodeEscape) : text
}

// Anything but printable ASCII without space and double quote.
const NOT_PLAIN = /[^\x21\x23-\x7e]/
// Anything but printable ASCII without double quote and backslash.
const NOT_PLAIN_JSON = /[^\x20\x21\x23-\x5b\x5d-\x7e]/
// Control bytes, the separators that some viewers take for a new line, and bidirectional overrides.
const BREAKS_LINE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
const EVERY_BREAK = new RegExp(BREAKS_LINE.source, 'g')

function toUnicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

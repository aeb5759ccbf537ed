/** Control, bidirectional, private and unassigned characters, which could control a terminal or disguise a text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu

/** Escapes a text to one line that is safe on a terminal. The escapes are those of JSON, so JSON keeps its meaning. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, escapeCharacter)
}

/** Like `printable`, but keeps line ends and tabs. */
export function printableBlock(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(UNSAFE, (character) =>
      character === '\n' || character === '\t' ? character : escapeCharacter(character),
    )
}

function escapeCharacter(character: string): string {
  let escaped = ''
  for (let at = 0; at < character.length; at++) {
    escaped += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`
  }
  return escaped
}

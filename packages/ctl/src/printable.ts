/** Control, bidirectional, private and unknown characters: whatever could drive a terminal or disguise a text. */
const UNSAFE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}]/gu

/** One line that is safe on a terminal. The escapes are those of JSON, so JSON text keeps its meaning. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, escapeCharacter)
}

/** The same for text of many lines: line ends and tabs stay. */
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

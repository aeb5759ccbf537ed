const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
}

/** In double quotes, as CEL would read it back; halves of surrogate pairs become U+FFFD. */
export function quote(text: string): string {
  return `"${text.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (char) => ESCAPES[char]!)}"`
}

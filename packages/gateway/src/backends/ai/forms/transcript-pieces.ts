/** Whether the pieces of a text, such as its segments, spell the text. Guards may have masked each by itself. */
export function agrees(text: string, pieces: readonly string[]): boolean {
  return squeezed(text) === squeezed(pieces.join(''))
}

function squeezed(text: string): string {
  return text.replaceAll(/\s+/g, '')
}

/** The text in captions (SRT or WebVTT), without numbers and times; other texts stay as they are. */
export function captionText(text: string): string {
  const lines = text.split(/\r?\n/)
  if (!lines.some(isTime)) return text
  const isHead = (line: string, at: number): boolean =>
    isTime(line) || isTime(lines[at + 1] ?? '') || (at === 0 && line.startsWith('WEBVTT'))
  return lines.filter((line, at) => line !== '' && !isHead(line, at)).join(' ')
}

function isTime(line: string): boolean {
  return TIME.test(line)
}

const TIME = /^(?:\d+:)?\d\d:\d\d[.,]\d{3}\s+-->\s/

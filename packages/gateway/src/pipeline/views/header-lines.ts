import { Double, Duration, Opaque, type Result, Timestamp, toText, Uint } from '@portico/cel'
import { fieldText, isHeaderValue } from '@portico/http'

/** Converts the result of an expression to header lines, one per list item; null when it cannot be a header. */
export function headerLines(result: Result): string[] | null {
  if (!Array.isArray(result)) {
    const line = headerLine(result)
    return line === null ? null : [line]
  }
  const lines: string[] = []
  for (const item of result as readonly Result[]) {
    const line = headerLine(item)
    if (line === null) return null
    lines.push(line)
  }
  return lines
}

/** Converts a result to one line without blanks at its ends, which HTTP/2 forbids and HTTP/1 ignores. */
export function headerLine(result: Result): string | null {
  const text = wireText(result)
  return text === null || text.length > MAX_LINE || !isHeaderValue(text) ? null : withoutBlanks(text)
}

/** Converts texts to UTF-8 bytes, and bytes unchanged, with one character code per byte. */
function wireText(result: Result): string | null {
  if (result instanceof Uint8Array)
    return Buffer.from(result.buffer, result.byteOffset, result.length).toString('latin1')
  return isScalar(result) ? fieldText(toText(result)) : null
}

function isScalar(result: Result): boolean {
  if (typeof result !== 'object') return true
  return scalarClasses.some((scalar) => result instanceof scalar)
}

const scalarClasses = [Double, Uint, Timestamp, Duration, Opaque]

function withoutBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (start < end && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 32 || code === 9
}

/** The longest line: an expression could copy a whole body into a header, which servers reject. */
const MAX_LINE = 16_384

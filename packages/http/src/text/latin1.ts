/**
 * `latin1` returns bytes as text, one character code per byte; `latin1Slice` avoids the argument checks of `toString`.
 */
export function latin1(bytes: Buffer, start: number, end: number): string {
  return (bytes as Buffer & { latin1Slice(start: number, end: number): string }).latin1Slice(start, end)
}

type Pair = readonly [name: string, value: string]

/** `readHeaders` reads `name: value` lines; it returns a text about the first line that is no header. */
export function readHeaders(text: string): Pair[] | string {
  const pairs: Pair[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const colon = line.indexOf(':')
    if (colon <= 0) return `Not a header: ${line}`
    pairs.push([line.slice(0, colon).trim(), line.slice(colon + 1).trim()])
  }
  return pairs
}

export function printHeaders(pairs: readonly Pair[]): string {
  return pairs.map(([name, value]) => `${name}: ${value}`).join('\n')
}

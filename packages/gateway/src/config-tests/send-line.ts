/** Parses `GET /path` or `GET https://host/path` to the long form of a request. */
export function parseSendLine(line: string): { method: string; path: string } | { path: string } {
  const [first = '', ...rest] = line.trim().split(/\s+/)
  return rest.length === 0 ? { path: first } : { method: first, path: rest.join(' ') }
}

import type { HeaderBlock } from '@portico/http'

/** Returns `list` with the names and values of a block in turn. */
export function withFields(list: string[], block: HeaderBlock): string[] {
  block.forEach((name, value) => list.push(name, value))
  return list
}

/** The fields of a request line. */
export function requestLine(method: string, scheme: string, authority: string, path: string): string[] {
  return [':method', method, ':scheme', scheme, ':authority', authority, ':path', path]
}

import { isRegex } from '../http/paths.ts'

/** A change of the path before a server is called. */
export interface NewPath {
  /** An expression for path and query. */
  readonly expression: string
  /** The new path for a path of clients, without a query. */
  pathFor(this: void, path: string): string
}

const QUERY = 'request.pathAndQuery.substring(request.path.size())'

/** Reads `%[path,regsub(PATTERN,TEXT)]` with a pattern for the start of the path and a text; null for other formats. */
export function readNewPath(format: string): NewPath | null {
  const [, source = '', text = '', flags = ''] =
    /^%\[path,regsub\((\^[^,()|"']*),([^,()"']*)(?:,([gi]*))?\)\]$/.exec(format) ?? []
  // HAProxy sends an empty path for the start alone, which no server accepts: the path becomes a slash.
  const isCut = text === '' && /[\w/]$/.test(source)
  const pattern = isCut && !source.endsWith('/') ? `${source}/?` : source
  const replaced = isCut ? '/' : text
  const compiled = expressionOf(pattern, flags)
  const regex = `${flags.includes('i') ? '(?i)' : ''}${pattern}`
  if (compiled === null || !isRegex(regex) || !/^\/[\w./~-]*$/.test(replaced)) return null
  return {
    expression: `request.path.regexReplace(${JSON.stringify(regex)}, ${JSON.stringify(replaced)}) + ${QUERY}`,
    pathFor: (path) => path.replace(compiled, () => replaced),
  }
}

function expressionOf(pattern: string, flags: string): RegExp | null {
  try {
    return new RegExp(pattern, flags.includes('i') ? 'i' : '')
  } catch {
    return null
  }
}

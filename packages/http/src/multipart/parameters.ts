/**
 * Reads the parameters of a header value from `at`, the position after the type: names in lower case. A string names the
 * problem. Repeated names are a problem, and so is a backslash before a quote, which parsers read in different ways.
 */
export function readParameters(text: string, at: number): ReadonlyMap<string, string> | string {
  const parameters = new Map<string, string>()
  let end = at
  while (end < text.length) {
    PARAMETER.lastIndex = end
    const found = PARAMETER.exec(text)
    if (found === null) return 'has a malformed parameter'
    const [whole, given = '', token, quoted = ''] = found
    const name = given.toLowerCase()
    if (parameters.has(name)) return `has the parameter ${name} twice`
    if (quoted.endsWith('\\')) return `has a backslash before a quote in ${name}`
    parameters.set(name, token ?? quoted)
    end += whole.length
  }
  return parameters
}

/** A quoted value ends at the first quote, and the next parameter or the end must follow. */
const PARAMETER =
  /[ \t]*;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"([^"\0-\x1f\x7f]*)")[ \t]*(?=;|$)/y

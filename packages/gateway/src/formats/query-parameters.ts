import { formDecode } from './form-decode.ts'

/** Parameters of a query, found and changed without touching a byte of the rest. A target is anything before `?`, and the query. */

/** The decoded values of every parameter of that name. */
export function parameterValues(query: string, name: string): string[] {
  const values: string[] = []
  for (const pair of query.split('&')) {
    if (pair === '' || parameterName(pair) !== name) continue
    const equals = pair.indexOf('=')
    values.push(equals === -1 ? '' : formDecode(pair.slice(equals + 1)))
  }
  return values
}

/** The target without the parameters of that name. */
export function withoutParameter(target: string, name: string): string {
  const [path, query] = splitTarget(target)
  const pairs = query.split('&')
  const rest = pairs.filter((pair) => pair === '' || parameterName(pair) !== name)
  if (rest.length === pairs.length) return target
  return rest.length === 0 ? path : `${path}?${rest.join('&')}`
}

/** The target with one parameter of that name, in place of all others. */
export function withParameter(target: string, name: string, value: string): string {
  return withAddedParameter(withoutParameter(target, name), name, value)
}

export function withAddedParameter(target: string, name: string, value: string): string {
  const [path, query] = splitTarget(target)
  const pair = `${encode(name)}=${encode(value)}`
  return `${path}?${query === '' ? pair : `${query}&${pair}`}`
}

/** The target with the values of that parameter hidden, for logs. */
export function withHiddenParameter(target: string, name: string): string {
  const [path, query] = splitTarget(target)
  const hidden = query
    .split('&')
    .map((pair) => (pair !== '' && parameterName(pair) === name ? `${pair.split('=', 1)[0]}=<redacted>` : pair))
  return `${path}?${hidden.join('&')}`
}

/** What stands before and behind the first `?`. */
export function splitTarget(target: string): [path: string, query: string] {
  const mark = target.indexOf('?')
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)]
}

function parameterName(pair: string): string {
  const equals = pair.indexOf('=')
  return formDecode(equals === -1 ? pair : pair.slice(0, equals))
}

/** Half a surrogate pair has no bytes to escape. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

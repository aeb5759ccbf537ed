import { REDACTED } from '../redaction/secret-names.ts'
import { formDecode } from './form-decode.ts'

/** Parameters of a query, found and changed without touching a byte of the rest. A target is anything before `?`, and the query. */

/** The decoded values of every parameter of that name. */
export function parameterValues(query: string, name: string): string[] {
  return parameterPairs(query, name).map((pair) => {
    const equals = pair.indexOf('=')
    return equals === -1 ? '' : formDecode(pair.slice(equals + 1))
  })
}

/** The parameters of that name, as they are written. */
export function parameterPairs(query: string, name: string): string[] {
  return query.split('&').filter((pair) => pair !== '' && parameterName(pair) === name)
}

/** The target without the parameters of that name. */
export function withoutParameter(target: string, name: string): string {
  return withoutParametersWhere(target, (each) => each === name)
}

/** The target without the parameters whose decoded names fit. */
export function withoutParametersWhere(target: string, fits: (name: string) => boolean): string {
  const [path, query] = splitTarget(target)
  if (query === '') return target
  const pairs = query.split('&')
  const rest = pairs.filter((pair) => pair === '' || !fits(parameterName(pair)))
  if (rest.length === pairs.length) return target
  return rest.length === 0 ? path : `${path}?${rest.join('&')}`
}

/** The target with one parameter of that name, in place of all others. */
export function withParameter(target: string, name: string, value: string): string {
  return withAddedParameter(withoutParameter(target, name), name, value)
}

export function withAddedParameter(target: string, name: string, value: string): string {
  return withAddedPair(target, `${encode(name)}=${encode(value)}`)
}

/** The target with one more parameter, as it is written. */
export function withAddedPair(target: string, pair: string): string {
  const [path, query] = splitTarget(target)
  return `${path}?${query === '' ? pair : `${query}&${pair}`}`
}

/** The target with the values of that parameter hidden, for logs. */
export function withHiddenParameter(target: string, name: string): string {
  const [path, query] = splitTarget(target)
  const hidden = query
    .split('&')
    .map((pair) => (pair !== '' && parameterName(pair) === name ? `${pair.split('=', 1)[0]}=${REDACTED}` : pair))
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

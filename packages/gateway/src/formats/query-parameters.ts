import { REDACTED } from '../redaction/secret-names.ts'
import { formDecode } from './form-decode.ts'

/** Reads and changes query parameters without touching any other byte. A target is a path, `?` and the query. */

/** Returns the decoded values of every parameter of that name. */
export function parameterValues(query: string, name: string): string[] {
  return parameterPairs(query, name).map((pair) => {
    const equals = pair.indexOf('=')
    return equals === -1 ? '' : formDecode(pair.slice(equals + 1))
  })
}

/** Returns the parameters of that name, still encoded. */
export function parameterPairs(query: string, name: string): string[] {
  return query.split('&').filter((pair) => pair !== '' && parameterName(pair) === name)
}

/** Returns the target without the parameters of that name. */
export function withoutParameter(target: string, name: string): string {
  return withoutParametersWhere(target, (each) => each === name)
}

/** Returns the target without the parameters whose decoded names fit. */
export function withoutParametersWhere(target: string, fits: (name: string) => boolean): string {
  const [path, query] = splitTarget(target)
  if (query === '') return target
  const pairs = query.split('&')
  const rest = pairs.filter((pair) => pair === '' || !fits(parameterName(pair)))
  if (rest.length === pairs.length) return target
  return rest.length === 0 ? path : `${path}?${rest.join('&')}`
}

/** Returns the target with one parameter of that name, in place of all others. */
export function withParameter(target: string, name: string, value: string): string {
  return withAddedParameter(withoutParameter(target, name), name, value)
}

export function withAddedParameter(target: string, name: string, value: string): string {
  return withAddedPair(target, `${encode(name)}=${encode(value)}`)
}

/** Returns the target with one more parameter, which is already encoded. */
export function withAddedPair(target: string, pair: string): string {
  const [path, query] = splitTarget(target)
  return `${path}?${query === '' ? pair : `${query}&${pair}`}`
}

/** Returns the target with the values of that parameter redacted, for logs. */
export function withHiddenParameter(target: string, name: string): string {
  const [path, query] = splitTarget(target)
  const hidden = query
    .split('&')
    .map((pair) => (pair !== '' && parameterName(pair) === name ? `${pair.split('=', 1)[0]}=${REDACTED}` : pair))
  return `${path}?${hidden.join('&')}`
}

/** Splits a target at its first `?`. */
export function splitTarget(target: string): [path: string, query: string] {
  return [targetPath(target), targetQuery(target)]
}

function parameterName(pair: string): string {
  const equals = pair.indexOf('=')
  return formDecode(equals === -1 ? pair : pair.slice(0, equals))
}

/** `toWellFormed` is needed because a lone surrogate has no bytes to escape. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The path of `path?query`. */
export function targetPath(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** The query of `path?query`, without the question mark. */
export function targetQuery(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? '' : target.slice(mark + 1)
}

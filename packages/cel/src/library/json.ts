import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { toJson } from '../render.ts'
import { tooLarge } from '../run/arithmetic.ts'
import { decodeBase64Url } from '../run/base64.ts'
import { exhausted, MAX_SIZE, meter, spend } from '../run/meter.ts'
import { isPlainMap, typeName } from '../run/type-of.ts'
import { decodeUtf8 } from '../run/utf8.ts'
import { parseSafely } from '../safe-json.ts'
import { bytes, mapOf, oneOf, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction } from './define.ts'

const WRITE = 'The value as JSON text.'

export const jsonFunctions = [
  globalFunction(
    'json',
    overload([oneOf(string, bytes)], 'dyn'),
    'The value of a JSON text (string or bytes).',
    (source: Value) => json(source, true),
    { pure: true, onceCall: (source: Value) => json(source, false) },
  ),
  globalFunction('toJson', overload(['dyn'], string), WRITE, write),
  globalFunction('to_json', overload(['dyn'], string), WRITE, write),
  globalFunction(
    'unvalidatedJwtPayload',
    overload([string], mapOf(string, 'dyn')),
    'The claims of a token, whose signature is NOT checked.',
    jwtPayload,
  ),
]

/** Parsed bodies by their bytes, so that a loop parses the same body once. Values are immutable, so sharing is safe. */
const known = new WeakMap<Uint8Array, Value>()

function json(source: Value, isMetered: boolean): Result {
  if (!(source instanceof Uint8Array)) return read(source, isMetered)
  const before = known.get(source)
  if (before !== undefined) return before
  const value = read(source, isMetered)
  if (!(value instanceof CelError)) known.set(source, value)
  return value
}

function read(source: Value, isMetered: boolean): Result {
  const text = source instanceof Uint8Array ? decodeUtf8(source) : source
  if (text === undefined) return new CelError('bad_value', 'invalid UTF-8')
  if (typeof text !== 'string') return noSuchOverload(`json(${typeName(text)})`)
  return !isMetered || spend(costOf(text)) ? parse(text) : exhausted
}

function parse(text: string): Result {
  try {
    return parseSafely(text)
  } catch {
    return new CelError('bad_value', 'the text is not JSON')
  }
}

/**
 * Objects and members dominate the cost, because each may be a new shape for V8. Calibrated against loop steps of about 40
 * ns.
 */
function costOf(text: string): number {
  let steps = text.length >> 4
  for (let i = 0; i < text.length; i++) steps += STEPS_BY_CHARACTER[text.charCodeAt(i)] ?? 0
  return steps
}

const STEPS_BY_CHARACTER = new Uint8Array(128)
for (const [character, steps] of Object.entries({ '{': 32, ':': 24, '[': 8, ',': 1, '"': 4 })) {
  STEPS_BY_CHARACTER[character.charCodeAt(0)] = steps
}

const STEPS_PER_VALUE = 4

function write(value: Value): Result {
  const most = Math.trunc(meter.left / STEPS_PER_VALUE)
  const limits = { values: most, characters: MAX_SIZE }
  const json = toJson(value, limits)
  if (!spend((most - limits.values) * STEPS_PER_VALUE) || limits.values < 0) return exhausted
  if (limits.characters < 0) return tooLarge
  const text = JSON.stringify(json)
  return spend(text.length >> 5) ? text : exhausted
}

function jwtPayload(token: Value): Result {
  if (typeof token !== 'string') return noSuchOverload(`unvalidatedJwtPayload(${typeName(token)})`)
  const [, payload, signature, more] = token.split('.')
  const isWhole = payload !== undefined && signature !== undefined && more === undefined
  const bytes = isWhole ? decodeBase64Url(payload) : undefined
  const claims = bytes === undefined ? undefined : json(bytes, true)
  return isPlainMap(claims) ? claims : new CelError('bad_value', 'the text is not a JWT')
}

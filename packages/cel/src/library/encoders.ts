import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { decodeBase64, encodeBase64 } from '../run/base64.ts'
import { exhausted, spend } from '../run/meter.ts'
import { typeName } from '../run/type-of.ts'
import { encodeUtf8 } from '../run/utf8.ts'
import { bytes, oneOf, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction } from './define.ts'

const ENCODE = 'Bytes, or the UTF-8 of a string, as base64.'
const DECODE = 'The bytes of base64; padding may be missing.'

const toBase64 = overload([oneOf(string, bytes)], string)
const fromBase64 = overload([string], bytes)

/** The names without a namespace are kept for older configs. */
export const encoderFunctions = [
  globalFunction('base64.encode', toBase64, ENCODE, encode),
  globalFunction('base64Encode', toBase64, ENCODE, encode),
  globalFunction('base64.decode', fromBase64, DECODE, decode),
  globalFunction('base64Decode', fromBase64, DECODE, decode),
]

function encode(value: Value): Result {
  const bytes = typeof value === 'string' ? encodeUtf8(value) : value
  if (!(bytes instanceof Uint8Array)) return noSuchOverload(`base64.encode(${typeName(value)})`)
  return spend(bytes.length >> 3) ? encodeBase64(bytes) : exhausted
}

function decode(text: Value): Result {
  if (typeof text !== 'string') return noSuchOverload(`base64.decode(${typeName(text)})`)
  if (!spend(text.length >> 3)) return exhausted
  return decodeBase64(text) ?? new CelError('bad_value', 'the text is not base64')
}

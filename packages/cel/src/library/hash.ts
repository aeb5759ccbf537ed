import type { FunctionDefinition } from '../declarations.ts'
import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { typeName } from '../run/type-of.ts'
import { encodeUtf8 } from '../run/utf8.ts'
import { bytes, oneOf, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction } from './define.ts'

type HashName = 'sha1' | 'sha256' | 'md5'
/** Returns the hash in hex. */
export type Hash = (name: HashName, bytes: Uint8Array) => string

/** Hash functions. Browsers pass no `hash`, because they only check expressions. */
export function hashFunctions(hash: Hash | undefined): FunctionDefinition[] {
  return (['sha1', 'sha256', 'md5'] as const).map((name) =>
    globalFunction(
      `${name}.encode`,
      overload([oneOf(string, bytes)], string),
      `The ${name.toUpperCase()} of bytes, or of the UTF-8 of a string, in hex.`,
      (value: Value): Result => {
        const bytes = typeof value === 'string' ? encodeUtf8(value) : value
        if (!(bytes instanceof Uint8Array)) return noSuchOverload(`${name}.encode(${typeName(value)})`)
        return hash === undefined
          ? new CelError('internal', 'hash functions are not available here')
          : hash(name, bytes)
      },
      {},
    ),
  )
}

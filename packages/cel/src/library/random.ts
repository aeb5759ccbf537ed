import { overload } from '../declarations.ts'
import { CelError } from '../error.ts'
import { toDouble } from '../run/numbers.ts'
import { double, string } from '../types.ts'
import type { Result } from '../value.ts'
import { globalFunction } from './define.ts'

/** The scope provides the source of randomness, so that an evaluation can be repeated. */
export interface RandomScope {
  /** From 0 up to, but not including, 1. */
  readonly random?: () => number
}

export const randomFunctions = [
  globalFunction('random', overload([], double), 'A random double from 0 up to 1.', random, { scoped: true }),
  globalFunction('uuid', overload([], string), 'A random UUID (version 4).', uuid, { scoped: true }),
]

function random(scope: RandomScope): Result {
  return scope.random === undefined ? noSource : toDouble(scope.random())
}

const noSource = new CelError('internal', 'randomness is not available here')

function uuid(scope: RandomScope): Result {
  const next = scope.random?.bind(scope)
  if (next === undefined) return noSource
  const hex = Array.from({ length: 4 }, () =>
    Math.floor(next() * 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('')
  const variant = (8 + (parseInt(hex.charAt(16), 16) % 4)).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}

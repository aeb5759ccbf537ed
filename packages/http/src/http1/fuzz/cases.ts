import { generateRequests, generateResponse } from './generate.ts'
import { mutate, split } from './mutate.ts'
import { Random } from './random.ts'

/** One input for both parsers; the seed determines everything in it. */
export interface Case {
  seed: number
  direction: 'request' | 'response'
  /** Method of the request that a response answers. */
  method: 'GET' | 'HEAD'
  /** Whether the sender closes after the bytes (responses only). */
  ends: boolean
  pieces: Buffer[]
}

export function caseOf(seed: number): Case {
  const random = new Random(Math.imul(seed, 0x9e3779b1))
  const direction = random.chance(70) ? 'request' : 'response'
  const valid = direction === 'request' ? generateRequests(random) : generateResponse(random)
  const text = random.chance(85) ? mutate(random, valid) : valid
  const pieces = split(random, Buffer.from(text, 'latin1'))
  return { seed, direction, method: random.chance(85) ? 'GET' : 'HEAD', ends: random.chance(50), pieces }
}

import { generateRequests, generateResponse } from './generate.ts'
import { mutate, split } from './mutate.ts'
import { Random } from './random.ts'

/** One thing to give to both parsers; everything in it follows from the seed. */
export interface Case {
  seed: number
  direction: 'request' | 'response'
  /** Of the request that a response answers. */
  method: 'GET' | 'HEAD'
  /** The sender closes after the bytes (responses). */
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

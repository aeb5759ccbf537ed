import { Random } from '../../../http/src/http1/fuzz/random.ts'

/** Numbers in [0, 1), the same ones every time. */
export function seeded(seed: number): () => number {
  const random = new Random(seed)
  return () => random.below(RANGE) / RANGE
}

const RANGE = 2 ** 32

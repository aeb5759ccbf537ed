import type { Case } from './cases.ts'
import { judge } from './session.ts'

/** Returns the shortest case, found by removing pieces, that still disagrees in the same way. */
export async function minimise(found: Case): Promise<Case> {
  const kind = kindOf((await judge([found]))[0]!.problem)
  const disagrees = async (each: Case): Promise<boolean> => kindOf((await judge([each]))[0]!.problem) === kind
  const bytes = Buffer.concat(found.pieces)
  const whole = { ...found, pieces: [bytes] }
  const inDrops = { ...found, pieces: drops(bytes) }
  // The cuts between pieces rarely matter; when they do, single bytes usually show the disagreement too.
  if (await disagrees(whole)) return shrink(bytes, (rest) => ({ ...found, pieces: [rest] }), disagrees)
  if (await disagrees(inDrops)) return shrink(bytes, (rest) => ({ ...found, pieces: drops(rest) }), disagrees)
  return found
}

/** Returns the bytes of a case as a printable string literal. */
export function escaped({ pieces }: Case): string {
  const text = JSON.stringify(Buffer.concat(pieces).toString('latin1'))
  return text.replace(/[\x7f-\xff]/g, (char) => '\\x' + char.charCodeAt(0).toString(16))
}

async function shrink(
  bytes: Buffer,
  caseWith: (rest: Buffer) => Case,
  disagrees: (each: Case) => Promise<boolean>,
): Promise<Case> {
  let best = bytes
  for (let size = best.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at + size <= best.length;) {
      const rest = Buffer.concat([best.subarray(0, at), best.subarray(at + size)])
      if (await disagrees(caseWith(rest))) best = rest
      else at += size
    }
  }
  return caseWith(best)
}

function drops(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (byte) => Buffer.from([byte]))
}

/** Returns the part of the explanation that does not quote the message. */
function kindOf(problem: string | null): string | null {
  return problem === null ? null : problem.split(':')[0]!
}

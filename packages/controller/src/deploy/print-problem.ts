import { type Problem, printPath } from '@portico/gateway/schema'

/** Prints a problem for a status, which many people may read; the value is left out, because it can be a secret. */
export function printProblem({ path, found, expected }: Problem): string {
  const said = found.startsWith('found ') ? [] : [found]
  // A rule about several keys is one sentence, without an expected value.
  const asked = expected === '' ? [] : [`expected ${expected}`]
  return `${printPath(path)}: ${[...said, ...asked].join(', ')}`
}

import { type Problem, printPath } from '@portico/gateway/schema'

/** Prints a problem for a status, which many people may read; the value is left out, because it can be a secret. */
export function printProblem({ path, found, expected }: Problem): string {
  const said = found.startsWith('found ') ? [] : [found]
  // Problems with a combination of keys have no expected value, only a sentence.
  const asked = expected === '' ? [] : [`expected ${expected}`]
  return `${printPath(path)}: ${[...said, ...asked].join(', ')}`
}

import { type Problem, printPath } from '@portico/gateway/schema'

/** For a status, which many may read: the value that was found can be a secret. */
export function printProblem({ path, found, expected }: Problem): string {
  const said = found.startsWith('found ') ? [] : [found]
  // A rule between keys says in one sentence what it asks for.
  const asked = expected === '' ? [] : [`expected ${expected}`]
  return `${printPath(path)}: ${[...said, ...asked].join(', ')}`
}

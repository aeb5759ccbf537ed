import { type Problem, printPath } from '@portico/gateway/schema'

/** For a status, which many may read: the value that was found can be a secret. */
export function printProblem({ path, found, expected }: Problem): string {
  const said = found.startsWith('found ') ? [] : [found]
  return `${printPath(path)}: ${[...said, `expected ${expected}`].join(', ')}`
}

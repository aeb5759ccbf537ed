import type { Check } from './run-suite.ts'

/**
 * Describes the checks that passed directly but not through the gateway; empty when there are none. A check that does not
 * apply is no loss: the gateway may respond with JSON where the server itself streams.
 */
export function whatWasLost(direct: Check[], through: Check[]): string[] {
  const gotByCheck = countByCheck(through, ['SUCCESS', 'INFO'])
  return [...countByCheck(direct, ['SUCCESS'])].flatMap(([check, wanted]) => {
    const got = gotByCheck.get(check) ?? 0
    if (got >= wanted) return []
    const others = through.filter((other) => keyOf(other) === check && other.status !== 'SUCCESS')
    const reasons = others.map(({ status, errorMessage }) => `${status} ${errorMessage ?? ''}`.trim())
    return [`${check} passed ${wanted} times directly, ${got} times through the gateway: ${reasons.join('; ')}`]
  })
}

/** A cell of the table. */
export function mark(checks: Check[] | undefined): string {
  if (checks === undefined) return 'did not run'
  const count = (status: Check['status']) => checks.filter((check) => check.status === status).length
  const [passed, failed, warned] = [count('SUCCESS'), count('FAILURE'), count('WARNING')]
  const warning = warned > 0 ? `, ${warned} warned` : ''
  if (failed > 0) return `✖ ${failed} of ${passed + failed}${warning}`
  if (passed + warned === 0) return '–'
  return `✔ ${passed}${warning}`
}

// A scenario may do the same check several times, for several inputs.
function countByCheck(checks: Check[], statuses: Check['status'][]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const check of checks) {
    if (statuses.includes(check.status)) counts.set(keyOf(check), (counts.get(keyOf(check)) ?? 0) + 1)
  }
  return counts
}

function keyOf({ id, name }: Check): string {
  return `${id} (${name})`
}

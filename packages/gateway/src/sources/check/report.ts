import type { ListenerProtocol } from '../../ir/resources.ts'
import type { Problem, ProblemCode } from '../../schema/problem.ts'
import type { Finding } from './settled.ts'
import type { Spot } from './tree.ts'

/** Records a problem at a spot of the file. */
export type Report = (
  code: ProblemCode,
  spot: Spot,
  phrases: { found: string; expected: string; suggestion?: string | null },
) => void

/** Runs a check that depends on the part only, unless an earlier run found nothing. */
export type CheckOnce = (part: Spot, finding: Finding, check: () => void) => void

/** The protocol of the listener. The schema reports an invalid one; other checks see `unknown`. */
export function protocolOf(listener: Spot): ListenerProtocol | 'unknown' {
  const protocol = listener.at('protocol')
  if (!protocol.exists) return 'HTTP'
  return PROTOCOLS.find((known) => known === protocol.text?.toUpperCase()) ?? 'unknown'
}

const PROTOCOLS: readonly ListenerProtocol[] = ['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP', 'HBONE']

/** Reports names that are used twice; `nameOf` returns null for an item without a name. */
export function checkUnique(
  spots: readonly Spot[],
  nameOf: (spot: Spot) => string | null,
  kind: string,
  report: Report,
): void {
  const firstByName = new Map<string, Spot>()
  for (const spot of spots) {
    const name = nameOf(spot)
    if (name === null) continue
    const seen = firstByName.has(name)
    if (seen)
      report('duplicate', spot, { found: `found ${kind} \`${name}\` a second time`, expected: `each ${kind} once` })
    else firstByName.set(name, spot)
  }
}

export function reporter(into: Problem[]): Report {
  return (code, spot, { found, expected, suggestion = null }) => {
    into.push({ code, path: spot.path, at: spot.exists ? 'key' : 'value', found, expected, suggestion })
  }
}

import type { Outcome } from '../simulate/outcome.ts'
import type { UpstreamMessage } from '../simulate/world.ts'
import type { Flip } from './compare.ts'

/** Headers whose values are random, so that two simulations differ in them. */
const CHOSEN: ReadonlySet<string> = new Set(['traceparent', 'tracestate', 'x-request-id', 'x-amzn-trace-id'])

/** Compares the requests that two configs send to the backend. */
export function compareMessages(before: Outcome, after: Outcome): readonly Flip[] {
  const [old, now] = [sentBy(before), sentBy(after)]
  if (old === null || now === null) return []
  const on = after.request?.route == null ? '' : ` on route ${after.request.route.name}`
  const flips: Flip[] = []
  if (old.target !== now.target) flips.push({ kind: 'path-changed', cause: `the path to the backend changes${on}` })
  const changes = haveSameLines(old, now) ? '' : headerChanges(linesOf(old), linesOf(now))
  if (changes !== '') flips.push({ kind: 'headers-changed', cause: `${changes}${on}` })
  return flips
}

function sentBy({ request, upstreamRequests }: Outcome): UpstreamMessage | null {
  const endpoint = request?.endpoint ?? null
  return upstreamRequests.findLast(({ address }) => address === endpoint) ?? null
}

/** Whether both requests have the same header lines in the same order, as most pairs have. */
function haveSameLines(old: UpstreamMessage, now: UpstreamMessage): boolean {
  if (old.authority !== now.authority || old.headers.length !== now.headers.length) return false
  return old.headers.every(([name, value], index) => {
    const [otherName, otherValue] = now.headers[index] ?? []
    return name === otherName && value === otherValue
  })
}

function linesOf({ authority, headers }: UpstreamMessage): ReadonlyMap<string, string> {
  const lines = new Map([['host', authority]])
  for (const [name, value] of headers) {
    // A replayed body may be a stand-in, so `content-length` says nothing about the config.
    if (CHOSEN.has(name) || name === 'content-length') continue
    const first = lines.get(name)
    lines.set(name, first === undefined ? value : `${first}, ${value}`)
  }
  return lines
}

/** Describes changed headers by name only, because values may be secrets: `x-a added, x-b removed`. */
function headerChanges(old: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string {
  const changes = [...new Set([...old.keys(), ...now.keys()])].toSorted().flatMap((name) => {
    const [before, after] = [old.get(name), now.get(name)]
    if (before === after) return []
    return `${name} ${before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'}`
  })
  return changes.join(', ')
}

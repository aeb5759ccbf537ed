import type { RequestRecord } from '../telemetry/recorder/record.ts'
import type { Flip } from './compare.ts'
import { type BacktestExample, FLIP_KINDS, type FlipGroup, type FlipKind, type UnknownGroup } from './report.ts'

/** A record that was decided again: its flips, or the reason why its decision is unknown. */
export interface DecidedRecord {
  readonly record: RequestRecord
  readonly before: string
  readonly after: string
  /** The key of the route that the new config chose; null when the config chose none, or did not decide. */
  readonly route: string | null
  readonly result: readonly Flip[] | string
}

interface RecordCount {
  count: number
  readonly first: DecidedRecord
}

/** Groups flips and unknown decisions by cause, and counts the records of each group; the number of groups is limited. */
export class Groups {
  same = 0
  flipped = 0
  unknown = 0
  readonly #counts = new Map<FlipKind, number>()
  readonly #flips = new Map<string, RecordCount & { kind: FlipKind; cause: string }>()
  readonly #unknowns = new Map<string, RecordCount>()

  add(decided: DecidedRecord): void {
    const { result } = decided
    if (typeof result === 'string') {
      this.unknown++
      count(this.#unknowns, result, () => ({ count: 0, first: decided }), OTHERS)
      return
    }
    if (result.length === 0) return void this.same++
    this.flipped++
    for (const kind of new Set(result.map((flip) => flip.kind))) {
      this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1)
    }
    for (const { kind, cause } of result) {
      const own = (text: string) => () => ({ count: 0, first: decided, kind, cause: text })
      const key = `${kind} ${cause}`
      if (this.#flips.size < MOST_GROUPS || this.#flips.has(key)) count(this.#flips, key, own(cause), key)
      else count(this.#flips, `${kind} ${OTHERS}`, own(OTHERS), `${kind} ${OTHERS}`)
    }
  }

  get counts(): Partial<Record<FlipKind, number>> {
    return Object.fromEntries(
      FLIP_KINDS.flatMap((kind) => {
        const count = this.#counts.get(kind)
        return count === undefined ? [] : [[kind, count]]
      }),
    )
  }

  /** The groups of flips without source locations, with the decided record of each example. */
  get flips(): { group: Omit<FlipGroup, 'decidedAt'>; decided: DecidedRecord }[] {
    const groups = [...this.#flips.values()].map(({ kind, cause, count, first }) => ({
      group: { kind, cause, count, example: exampleOf(first) },
      decided: first,
    }))
    const rank = ({ group }: { group: { kind: FlipKind } }): number => FLIP_KINDS.indexOf(group.kind)
    return groups.toSorted((a, b) => rank(a) - rank(b) || b.group.count - a.group.count)
  }

  get unknowns(): UnknownGroup[] {
    const groups = [...this.#unknowns].map(([cause, { count, first }]) => ({ cause, count, example: exampleOf(first) }))
    return groups.toSorted((a, b) => b.count - a.count)
  }
}

function count<Group extends RecordCount>(
  groups: Map<string, Group>,
  key: string,
  make: () => Group,
  last: string,
): void {
  const own = groups.has(key) || groups.size < MOST_GROUPS ? key : last
  let group = groups.get(own)
  if (group === undefined) groups.set(own, (group = make()))
  group.count++
}

function exampleOf({ record, before, after }: DecidedRecord): BacktestExample {
  const { id, at, method, host, path, key } = record
  return { id, at, method, host, path, key, before, after }
}

const MOST_GROUPS = 500
const OTHERS = 'other causes'

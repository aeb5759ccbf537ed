import { pathOf } from '../known-path.ts'
import type { Plan } from '../plan.ts'
import { pathNames } from '../plan.ts'

/** Paths known to be present, as JSON. */
export type PresentPaths = ReadonlySet<string>

const NONE: PresentPaths = new Set()

/** At most this many paths are tracked; otherwise checking thousands of conditions would be slow. */
const MAX_PATHS = 100

export function addPaths(known: PresentPaths, more: PresentPaths): PresentPaths {
  return known.size + more.size > MAX_PATHS ? known : new Set([...known, ...more])
}

/** Whether the path, or a path beneath it, is known to be present. */
export function covers(present: PresentPaths, path: readonly string[]): boolean {
  if (present.size === 0) return false
  const key = JSON.stringify(path)
  const open = `${key.slice(0, -1)},`
  for (const known of present) if (known === key || known.startsWith(open)) return true
  return false
}

/** Returns the paths that must be present when the condition is true (or false): `has(x)`, `"k" in m`, `x != null`. */
export function presentWhen(condition: Plan, outcome: boolean): PresentPaths {
  if (condition.kind === 'not') return presentWhen(condition.operand, !outcome)
  if (condition.kind === 'binary') return presentByRelation(condition, outcome)
  if (condition.kind === 'has') return outcome ? onlyPath(namesOf(condition.operand), condition.field) : NONE
  if (condition.kind === 'hasPath') return outcome ? onlyPath(pathNames(condition.path)) : NONE
  // All operands of a true `&&` are true; all operands of a false `||` are false.
  const isCertain = condition.kind === 'logic' && (condition.operator === '&&') === outcome
  if (!isCertain) return NONE
  return condition.items.reduce<PresentPaths>((all, item) => addPaths(all, presentWhen(item, outcome)), NONE)
}

function presentByRelation({ operator, left, right }: Plan & { kind: 'binary' }, outcome: boolean): PresentPaths {
  if (operator === 'in' && outcome && left.kind === 'constant' && typeof left.value === 'string') {
    return onlyPath(namesOf(right), left.value)
  }
  const isNotNull = (operator === '!=' && outcome) || (operator === '==' && !outcome)
  if (isNotNull && right.kind === 'constant' && right.value === null) return onlyPath(namesOf(left))
  return NONE
}

function onlyPath(names: readonly string[] | undefined, ...more: string[]): PresentPaths {
  return names === undefined ? NONE : new Set([JSON.stringify([...names, ...more])])
}

/** The path of a plan. Undefined for optionals, which are present even when empty, and for computed keys. */
function namesOf(plan: Plan): readonly string[] | undefined {
  const path = pathOf(plan)
  return path === undefined || path.guarded || path.open ? undefined : path.names
}

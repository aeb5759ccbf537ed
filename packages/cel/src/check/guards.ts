import { pathOf } from '../known-path.ts'
import type { Plan } from '../plan.ts'
import { pathNames } from '../plan.ts'

/** Paths known to be present, as JSON. */
export type Facts = ReadonlySet<string>

const NONE: Facts = new Set()

/** At most this many paths are tracked; otherwise checking thousands of conditions would be slow. */
const MAX_FACTS = 100

export function addFacts(known: Facts, more: Facts): Facts {
  return known.size + more.size > MAX_FACTS ? known : new Set([...known, ...more])
}

/** Whether the path, or a path beneath it, is known to be present. */
export function covers(facts: Facts, path: readonly string[]): boolean {
  if (facts.size === 0) return false
  const key = JSON.stringify(path)
  const open = `${key.slice(0, -1)},`
  for (const fact of facts) if (fact === key || fact.startsWith(open)) return true
  return false
}

/** Returns the paths that must be present when the condition is true (or false): `has(x)`, `"k" in m`, `x != null`. */
export function factsWhen(condition: Plan, outcome: boolean): Facts {
  if (condition.kind === 'not') return factsWhen(condition.operand, !outcome)
  if (condition.kind === 'binary') return factsOfRelation(condition, outcome)
  if (condition.kind === 'has') return outcome ? factOf(namesOf(condition.operand), condition.field) : NONE
  if (condition.kind === 'hasPath') return outcome ? factOf(pathNames(condition.path)) : NONE
  // All operands of a true `&&` are true; all operands of a false `||` are false.
  const isCertain = condition.kind === 'logic' && (condition.operator === '&&') === outcome
  if (!isCertain) return NONE
  return condition.items.reduce<Facts>((all, item) => addFacts(all, factsWhen(item, outcome)), NONE)
}

function factsOfRelation({ operator, left, right }: Plan & { kind: 'binary' }, outcome: boolean): Facts {
  if (operator === 'in' && outcome && left.kind === 'constant' && typeof left.value === 'string') {
    return factOf(namesOf(right), left.value)
  }
  const isNotNull = (operator === '!=' && outcome) || (operator === '==' && !outcome)
  if (isNotNull && right.kind === 'constant' && right.value === null) return factOf(namesOf(left))
  return NONE
}

function factOf(names: readonly string[] | undefined, ...more: string[]): Facts {
  return names === undefined ? NONE : new Set([JSON.stringify([...names, ...more])])
}

/** The path of a plan. Undefined for optionals, which are present even when empty, and for computed keys. */
function namesOf(plan: Plan): readonly string[] | undefined {
  const path = pathOf(plan)
  return path === undefined || path.guarded || path.open ? undefined : path.names
}

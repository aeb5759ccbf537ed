import { fold } from './check/fold.ts'
import type { Reference } from './check/references.ts'
import { findReferences } from './check/references.ts'
import { resolve } from './check/resolve.ts'
import type { Environment, VariableType } from './declarations.ts'
import { parse } from './parse/parser.ts'
import type { Plan } from './plan.ts'
import type { Problem } from './position.ts'
import { positionAt } from './position.ts'

export type { Reference } from './check/references.ts'

export interface CheckResult {
  /** Empty: the expression may be used. */
  problems: Problem[]
  /** Reads of values that may be absent, without `has` or `default`. */
  warnings: Problem[]
  references: Reference[]
}

/** Cheap, and safe for browsers: nothing is generated. */
export function check(source: string, environment: Environment): CheckResult {
  const { problems, references } = analyse(source, environment)
  if (problems.length > 0) return { problems, warnings: [], references }
  const warned = new Set<string>()
  const warnings = readsWithoutGuard(references, environment).flatMap(({ path, offset }) => {
    const name = path.join('.')
    if (warned.has(name)) return []
    warned.add(name)
    const message = `\`${name}\` may be absent, and the expression fails then: use has() or default()`
    return [{ message, position: positionAt(source, offset) }]
  })
  return { problems, warnings, references }
}

export interface Analysis {
  problems: Problem[]
  references: Reference[]
  /** Null when the source cannot be parsed. */
  plan: Plan | null
}

export function analyse(source: string, environment: Environment): Analysis {
  const parsed = parse(source)
  if (!parsed.ok) return { problems: [parsed.problem], references: [], plan: null }
  const { plan, problems } = resolve(source, parsed.expr, environment)
  const references = findReferences(plan, environment.variables.keys())
  const folded = fold(plan, environment, (message, offset) =>
    problems.push({ message, position: positionAt(source, offset) }),
  )
  problems.sort((a, b) => a.position.offset - b.position.offset)
  return { problems, references, plan: folded }
}

/** References that fail when the value is absent. */
export function readsWithoutGuard(references: readonly Reference[], environment: Environment): Reference[] {
  return references.filter(({ guarded, path }) => !guarded && mayBeAbsent(path, environment))
}

/** Whether anything at, above or beneath this path is read. */
export function reads(references: readonly Reference[], path: readonly string[]): boolean {
  return references.some(({ path: read }) => {
    const shared = Math.min(read.length, path.length)
    return read.slice(0, shared).every((name, index) => name === path[index])
  })
}

function mayBeAbsent(path: readonly string[], environment: Environment): boolean {
  let type: VariableType | undefined = environment.variables.get(path[0]!)
  // An absent variable by itself is null; only what is read from it fails.
  let absent = false
  for (const name of path.slice(1)) {
    if (type?.kind !== 'struct') return true
    absent ||= type.optional
    type = type.fields.get(name)
    absent ||= type?.optional ?? true
  }
  return absent
}

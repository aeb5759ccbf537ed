import { analyse } from './analyse.ts'
import type { HeaderComparison } from './check/header-comparisons.ts'
import { findHeaderComparisons } from './check/header-comparisons.ts'
import type { TypeProblem } from './check/infer.ts'
import { inferTypes } from './check/infer.ts'
import type { Reference } from './check/references.ts'
import type { Environment, VariableType } from './declarations.ts'
import type { Position, Problem } from './position.ts'
import { positionAt } from './position.ts'
import type { Type } from './types.ts'

export interface CheckOptions {
  /** The type that the config field needs from the expression; any type when unset. */
  readonly wants?: Type
}

export interface CheckResult {
  /** Problems that reject the expression; empty when the expression may be used. */
  problems: Problem[]
  /** Reads of values that may be absent, without `has` or `default`. */
  warnings: Problem[]
  references: Reference[]
  /** Comparisons with one text, which a header that was sent on several lines never equals. */
  headerComparisons: (HeaderComparison & { position: Position })[]
}

/** `check` is cheap and works in browsers, because it generates no code. */
export function check(source: string, environment: Environment, { wants = 'dyn' }: CheckOptions = {}): CheckResult {
  const { problems, references, written } = analyse(source, environment)
  if (written === null) return { problems, warnings: [], references, headerComparisons: [] }
  const inferred = inferTypes(written, wants)
  if (!environment.lenient) problems.push(...withPositions(source, inferred.problems))
  problems.sort((a, b) => a.position.offset - b.position.offset)
  if (problems.length > 0) return { problems, warnings: [], references, headerComparisons: [] }
  const headerComparisons = findHeaderComparisons(written, inferred.types).map((comparison) => ({
    ...comparison,
    position: positionAt(source, comparison.offset),
  }))
  return { problems, warnings: absenceWarnings(source, references, environment), references, headerComparisons }
}

function absenceWarnings(source: string, references: readonly Reference[], environment: Environment): Problem[] {
  const warned = new Set<string>()
  return readsWithoutGuard(references, environment).flatMap(({ path, offset }) => {
    const name = path.join('.')
    if (warned.has(name)) return []
    warned.add(name)
    const message = `\`${name}\` may be absent, and the expression fails then: use has() or default()`
    return [{ message, position: positionAt(source, offset) }]
  })
}

const MAX_PROBLEMS = 20

function withPositions(source: string, problems: readonly TypeProblem[]): Problem[] {
  return problems
    .slice(0, MAX_PROBLEMS)
    .map(({ message, plan }) => ({ message, position: positionAt(source, plan.offset) }))
}

/** Returns the references that fail when their value is absent. */
export function readsWithoutGuard(references: readonly Reference[], environment: Environment): Reference[] {
  return references.filter(({ guarded, path }) => !guarded && mayBeAbsent(path, environment))
}

function mayBeAbsent([root = '', ...names]: readonly string[], environment: Environment): boolean {
  let type: VariableType | undefined = environment.variables.get(root)
  // An absent variable itself is null; only reading one of its fields fails.
  let absent = false
  for (const name of names) {
    if (type?.kind !== 'struct') return true
    absent ||= type.optional
    type = type.fields.get(name)
    absent ||= type?.optional ?? true
  }
  return absent
}

import { fold } from './check/fold.ts'
import type { Reference } from './check/references.ts'
import { findReferences } from './check/references.ts'
import { resolve } from './check/resolve.ts'
import type { Environment } from './declarations.ts'
import { parse } from './parse/parser.ts'
import type { Plan } from './plan.ts'
import type { Problem } from './position.ts'
import { positionAt } from './position.ts'

interface Analysis {
  problems: Problem[]
  references: Reference[]
  /** The plan that runs; null when the source cannot be parsed. */
  plan: Plan | null
  /** The plan before constant folding, so every part still has its position in the source. */
  written: Plan | null
}

/** `analyse` parses, resolves and folds the source for evaluation; it does not check types. */
export function analyse(source: string, environment: Environment): Analysis {
  const parsed = parse(source)
  if (!parsed.ok) return { problems: [parsed.problem], references: [], plan: null, written: null }
  const { plan: written, problems } = resolve(source, parsed.expr, environment)
  const references = findReferences(written, environment.variables.keys())
  const plan = fold(written, environment, (message, offset) =>
    problems.push({ message, position: positionAt(source, offset) }),
  )
  problems.sort((a, b) => a.position.offset - b.position.offset)
  return { problems, references, plan, written }
}

/** Whether the expression reads the path itself, an ancestor or a descendant of it. */
export function reads(references: readonly Reference[], path: readonly string[]): boolean {
  return references.some(({ path: read }) => {
    const shared = Math.min(read.length, path.length)
    return read.slice(0, shared).every((name, index) => name === path[index])
  })
}

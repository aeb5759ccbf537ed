import { pathOf } from '../known-path.ts'
import { childrenOf } from '../plan-children.ts'
import type { Plan } from '../plan.ts'
import { pathNames } from '../plan.ts'
import type { PresentPaths } from './guards.ts'
import { addPaths, covers, presentWhen } from './guards.ts'

/** A path that an expression reads: `["request","headers","x-team"]`. The last name includes all its children. */
export interface Reference {
  path: readonly string[]
  /** Offset in the source. */
  offset: number
  /**
   * Whether the read cannot fail when the value is absent: it is inside `has`, `default`, `coalesce` or `.?`, or
   * follows a `has` of the path.
   */
  guarded: boolean
}

/** Returns every path that the expression may read, in source order. */
export function findReferences(plan: Plan, roots: Iterable<string>): Reference[] {
  const walk = new ReferenceWalk(roots)
  walk.visit(plan, { present: new Set(), guarded: false })
  return walk.references
}

class ReferenceWalk {
  readonly references: Reference[] = []
  readonly #roots: Iterable<string>

  constructor(roots: Iterable<string>) {
    this.#roots = roots
  }

  visit(node: Plan, state: State): void {
    const path = pathOf(node)
    if (path !== undefined) {
      this.#note(path.names, node.offset, { ...state, guarded: state.guarded || path.guarded })
      this.#visitKeys(node, state)
      return
    }
    if (node.kind === 'has' || node.kind === 'hasPath') this.#visitHas(node, state)
    else if (node.kind === 'logic') this.#visitLogic(node.items, node.operator === '&&', state)
    else if (node.kind === 'conditional') {
      this.visit(node.test, state)
      this.visit(node.yes, withPresent(state, presentWhen(node.test, true)))
      this.visit(node.no, withPresent(state, presentWhen(node.test, false)))
    } else if (node.kind === 'default') {
      this.visit(node.value, { ...state, guarded: true })
      this.visit(node.fallback, state)
    } else if (node.kind === 'coalesce') {
      for (const item of node.items) this.visit(item, { ...state, guarded: true })
    } else {
      if (node.kind === 'call' && node.fallback?.name === 'variables') {
        for (const root of this.#roots) this.#note([root], node.offset, { ...state, guarded: true })
      }
      for (const child of childrenOf(node)) this.visit(child, state)
    }
  }

  #visitLogic(items: readonly Plan[], isAnd: boolean, state: State): void {
    let current = state
    for (const item of items) {
      this.visit(item, current)
      current = withPresent(current, presentWhen(item, isAnd))
    }
  }

  #visitHas(node: Plan & { kind: 'has' | 'hasPath' }, state: State): void {
    if (node.kind === 'hasPath') {
      this.#note(pathNames(node.path), node.offset, { ...state, guarded: true })
      return
    }
    const operand = pathOf(node.operand)
    if (operand === undefined) {
      this.visit(node.operand, state)
      return
    }
    // Testing a field of an absent variable is not an error, but a missing key in the middle of the path is.
    if (node.operand.kind !== 'root') this.visit(node.operand, state)
    const names = operand.open ? operand.names : [...operand.names, node.field]
    this.#note(names, node.offset, { ...state, guarded: true })
  }

  /** Visits computed keys, which read paths themselves. */
  #visitKeys(node: Plan, state: State): void {
    if (node.kind === 'select') this.#visitKeys(node.operand, state)
    else if (node.kind === 'index' || node.kind === 'optionalIndex') {
      this.#visitKeys(node.operand, state)
      this.visit(node.key, state)
    }
  }

  #note(names: readonly string[], offset: number, { guarded, present }: State): void {
    this.references.push({ path: names, offset, guarded: guarded || covers(present, names) })
  }
}

interface State {
  present: PresentPaths
  guarded: boolean
}

function withPresent(state: State, present: PresentPaths): State {
  return present.size === 0 ? state : { ...state, present: addPaths(state.present, present) }
}

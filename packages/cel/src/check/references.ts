import type { Plan } from '../plan.ts'
import { pathNames } from '../plan.ts'
import { childrenOf } from '../plan-children.ts'
import { pathOf } from '../known-path.ts'
import { addFacts, covers, factsWhen } from './guards.ts'
import type { Facts } from './guards.ts'

/** Something an expression reads: `["request","headers","x-team"]`. The last name stands for all beneath it. */
export interface Reference {
  path: readonly string[]
  /** Offset in the source. */
  offset: number
  /** It cannot fail for being absent: under `has`, `default`, `coalesce`, `.?`, or after a `has` of it. */
  guarded: boolean
}

/** All that the expression may read, in the order of the text. */
export function findReferences(plan: Plan, roots: Iterable<string>): Reference[] {
  const references: Reference[] = []
  visit(plan, { facts: new Set(), guarded: false })
  return references

  function visit(node: Plan, state: State): void {
    const path = pathOf(node)
    if (path !== undefined) {
      note(path.names, node.offset, { ...state, guarded: state.guarded || path.guarded })
      visitKeys(node, state)
      return
    }
    if (node.kind === 'has' || node.kind === 'hasPath') visitHas(node, state)
    else if (node.kind === 'logic') visitLogic(node.items, node.operator === '&&', state)
    else if (node.kind === 'conditional') {
      visit(node.test, state)
      visit(node.yes, withFacts(state, factsWhen(node.test, true)))
      visit(node.no, withFacts(state, factsWhen(node.test, false)))
    } else if (node.kind === 'default') {
      visit(node.value, { ...state, guarded: true })
      visit(node.fallback, state)
    } else if (node.kind === 'coalesce') {
      for (const item of node.items) visit(item, { ...state, guarded: true })
    } else {
      if (node.kind === 'call' && node.fallback?.name === 'variables') {
        for (const root of roots) note([root], node.offset, { ...state, guarded: true })
      }
      for (const child of childrenOf(node)) visit(child, state)
    }
  }

  function visitLogic(items: readonly Plan[], isAnd: boolean, state: State): void {
    let current = state
    for (const item of items) {
      visit(item, current)
      current = withFacts(current, factsWhen(item, isAnd))
    }
  }

  function visitHas(node: Plan & { kind: 'has' | 'hasPath' }, state: State): void {
    if (node.kind === 'hasPath') {
      note(pathNames(node.path), node.offset, { ...state, guarded: true })
      return
    }
    const operand = pathOf(node.operand)
    if (operand === undefined) {
      visit(node.operand, state)
      return
    }
    // An absent variable has no fields, but a missing key on the way is an error.
    if (node.operand.kind !== 'root') visit(node.operand, state)
    const names = operand.open ? operand.names : [...operand.names, node.field]
    note(names, node.offset, { ...state, guarded: true })
  }

  /** Keys that are computed read something themselves. */
  function visitKeys(node: Plan, state: State): void {
    if (node.kind === 'select') visitKeys(node.operand, state)
    else if (node.kind === 'index' || node.kind === 'optionalIndex') {
      visitKeys(node.operand, state)
      visit(node.key, state)
    }
  }

  function note(names: readonly string[], offset: number, { guarded, facts }: State): void {
    references.push({ path: names, offset, guarded: guarded || covers(facts, names) })
  }
}

interface State {
  facts: Facts
  guarded: boolean
}

function withFacts(state: State, facts: Facts): State {
  return facts.size === 0 ? state : { ...state, facts: addFacts(state.facts, facts) }
}

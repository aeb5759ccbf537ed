import { pathOf } from '../known-path.ts'
import { childrenOf } from '../plan-children.ts'
import type { Plan } from '../plan.ts'
import type { Type } from '../types.ts'
import { list, mayBe, memberOf, partOf, string } from '../types.ts'

/**
 * A comparison of a header with one text. A header with several lines is a list, which never equals a text: `==` and
 * `in` are false, `!=` is true.
 */
export interface HeaderComparison {
  /** `request.headers.x-team`, or the part of that path that is literal; `a header` when no part is known. */
  header: string
  offset: number
  /** The value that the whole expression tends to for a header with several lines; undefined when that is unknown. */
  leans: boolean | undefined
}

export function findHeaderComparisons(plan: Plan, types: ReadonlyMap<Plan, Type>): HeaderComparison[] {
  const found: HeaderComparison[] = []
  visit(plan, true)
  return found

  /** `outcome` is the value that the whole expression tends to when this node is true. */
  function visit(node: Plan, outcome: boolean | undefined): void {
    const opposite = outcome === undefined ? undefined : !outcome
    if (node.kind === 'binary') {
      const header = comparedHeader(node, types)
      const leans = node.operator === '!=' ? outcome : opposite
      if (header !== undefined) found.push({ header, offset: node.offset, leans })
    }
    const direct = childrenInLine(node)
    for (const child of childrenOf(node)) {
      visit(child, direct.includes(child) ? (node.kind === 'not' ? opposite : outcome) : undefined)
    }
  }
}

/** Child nodes whose truth value decides that of the node, negated under `!`. */
function childrenInLine(node: Plan): readonly Plan[] {
  if (node.kind === 'not') return [node.operand]
  if (node.kind === 'logic' || node.kind === 'coalesce') return node.items
  if (node.kind === 'conditional') return [node.yes, node.no]
  if (node.kind === 'default') return [node.value, node.fallback]
  if (node.kind === 'bind') return [node.body]
  return node.kind === 'loop' && (node.macro === 'all' || node.macro === 'exists') ? [node.body] : []
}

function comparedHeader(node: Plan & { kind: 'binary' }, types: ReadonlyMap<Plan, Type>): string | undefined {
  const { operator, left, right } = node
  const typeOf = (part: Plan): Type => types.get(part) ?? 'dyn'
  if (operator === 'in') return isOneText(partOf(typeOf(right), 'list', 0)) ? headerIn(left, typeOf(left)) : undefined
  if (operator !== '==' && operator !== '!=') return undefined
  for (const [part, other] of [
    [left, right],
    [right, left],
  ] as const) {
    // Comparing with an empty text or null only tests for presence, and a header with several lines is present.
    const isQuestion = other.kind === 'constant' && (other.value === '' || other.value === null)
    if (!isQuestion && isOneText(typeOf(other))) return headerIn(part, typeOf(part))
  }
  return undefined
}

function isOneText(type: Type): boolean {
  return mayBe(type, string) && memberOf(type, 'list') === undefined
}

/** The header that a value comes from, if the value is a text or a list of texts. */
function headerIn(plan: Plan, type: Type): string | undefined {
  if (type === 'dyn' || memberOf(type, 'string') === undefined || !mayBe(type, list)) return undefined
  const path = pathOf(plan)
  if (path !== undefined) return path.names.join('.')
  for (const child of childrenOf(plan)) {
    const inner = pathOf(child)
    if (inner !== undefined) return inner.names.join('.')
  }
  return 'a header'
}

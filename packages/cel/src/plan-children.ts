import type { Plan } from './plan.ts'

/** Returns the plan with each direct child replaced. Paths have no children. */
export function mapChildren(plan: Plan, change: (child: Plan) => Plan): Plan {
  switch (plan.kind) {
    case 'constant':
    case 'failure':
    case 'root':
    case 'field':
    case 'header':
    case 'view':
    case 'local':
    case 'optionalPath':
    case 'hasPath':
      return plan
    case 'select':
    case 'has':
    case 'not':
    case 'negate':
      return { ...plan, operand: change(plan.operand) }
    case 'index':
    case 'optionalIndex':
      return { ...plan, operand: change(plan.operand), key: change(plan.key) }
    case 'call':
      return { ...plan, args: plan.args.map(change) }
    case 'logic':
    case 'coalesce':
      return { ...plan, items: plan.items.map(change) }
    case 'binary':
      return { ...plan, left: change(plan.left), right: change(plan.right) }
    case 'conditional':
      return { ...plan, test: change(plan.test), yes: change(plan.yes), no: change(plan.no) }
    case 'list':
      return { ...plan, items: plan.items.map((item) => ({ ...item, value: change(item.value) })) }
    case 'map':
      return {
        ...plan,
        entries: plan.entries.map((entry) => ({ ...entry, key: change(entry.key), value: change(entry.value) })),
      }
    case 'loop':
      return { ...plan, range: change(plan.range), filter: plan.filter && change(plan.filter), body: change(plan.body) }
    case 'bind':
      return { ...plan, value: change(plan.value), body: change(plan.body) }
    case 'default':
      return { ...plan, value: change(plan.value), fallback: change(plan.fallback) }
    case 'orElse':
      return { ...plan, operand: change(plan.operand), alternative: change(plan.alternative) }
    case 'optionalMap':
      return { ...plan, operand: change(plan.operand), body: change(plan.body) }
  }
}

export function childrenOf(plan: Plan): Plan[] {
  const children: Plan[] = []
  mapChildren(plan, (child) => {
    children.push(child)
    return child
  })
  return children
}

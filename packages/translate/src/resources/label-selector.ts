import type { Fields } from './fields.ts'

export interface LabelSelector {
  matchLabels: Record<string, string>
  matchExpressions: { key: string; operator: Operator; values: string[] }[]
}

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const
type Operator = (typeof operators)[number]

/** Reads a label selector; an empty one selects everything. */
export function readLabelSelector(fields: Fields): LabelSelector {
  const matchLabels = fields.textsByKey('matchLabels')
  const matchExpressions = fields.objects('matchExpressions').flatMap((expression) => {
    const [key, operator] = [expression.text('key'), expression.choice('operator', operators)]
    const values = expression.texts('values')
    expression.done()
    // An invalid requirement must not widen the selector.
    return [{ key: key ?? '', operator: operator ?? 'In', values }]
  })
  fields.done()
  return { matchLabels, matchExpressions }
}

export function isSelected(labels: Readonly<Record<string, string>>, selector: LabelSelector): boolean {
  const { matchLabels, matchExpressions } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
      const label = labels[key]
      switch (operator) {
        case 'In':
          return label !== undefined && values.includes(label)
        case 'NotIn':
          return label === undefined || !values.includes(label)
        case 'Exists':
          return label !== undefined
        case 'DoesNotExist':
          return label === undefined
      }
    })
  )
}

/** Options that keys and teams share. */
export const fieldOptions = {
  budgets: {
    kind: 'value',
    value: '<amounts>',
    summary: 'budgets: 5usd/day,1000000tokens/rolling-month,100usd/lifetime',
  },
  limits: { kind: 'value', value: '<amounts>', summary: 'limits: 60requests/minute,100000tokens/hour,4calls' },
  clear: { kind: 'value', value: '<fields>', summary: 'with change: fields to remove, such as models,expires' },
} as const

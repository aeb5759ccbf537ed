interface AmountFlags {
  readonly rates: string | null
  readonly units: string | null
  readonly perCall: string | null
}

/** Reads the amounts of a price from options; returns the problem as a string. The gateway checks names and values. */
export function readAmounts({ rates, units, perCall }: AmountFlags): object | string {
  const lists = { rates: readList('--rates', rates), units: readList('--units', units) }
  for (const list of Object.values(lists)) if (typeof list === 'string') return list
  return {
    ...(lists.rates !== null && { rates: lists.rates }),
    ...(lists.units !== null && { units: lists.units }),
    ...(perCall !== null && { perCall }),
  }
}

function readList(option: string, text: string | null): Record<string, string> | string | null {
  if (text === null) return null
  const entries: [string, string][] = []
  for (const part of text.split(',')) {
    const [name, value, extra] = part.split('=')
    if (name === undefined || name === '' || value === undefined || value === '' || extra !== undefined) {
      return `found ${option} ${JSON.stringify(part)}, expected name=amount`
    }
    if (entries.some(([known]) => known === name)) return `found ${name} twice in ${option}`
    entries.push([name, value])
  }
  return Object.fromEntries(entries)
}

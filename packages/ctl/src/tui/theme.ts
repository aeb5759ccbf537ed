/** Colors of ink; undefined keeps the terminal's default. */
export interface Theme {
  readonly active: string | undefined
  readonly added: string | undefined
  readonly removed: string | undefined
  readonly changed: string | undefined
  readonly trouble: string | undefined
  readonly bySeverity: Readonly<Record<string, string | undefined>>
}

const plain: Theme = {
  active: undefined,
  added: undefined,
  removed: undefined,
  changed: undefined,
  trouble: undefined,
  bySeverity: {},
}

const coloured: Theme = {
  active: 'cyan',
  added: 'green',
  removed: 'red',
  changed: 'yellow',
  trouble: 'red',
  bySeverity: { success: 'green', warn: 'yellow', error: 'red' },
}

/** Follows NO_COLOR: any value except the empty one turns colors off. */
export function themeFor(env: Readonly<Record<string, string | undefined>>): Theme {
  return (env['NO_COLOR'] ?? '') === '' ? coloured : plain
}

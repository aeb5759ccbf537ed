/** The results of a run, for the table in the docs. */
export class Ledger {
  /** By client, by provider. */
  readonly #cells = new Map<string, Map<string, Count>>()

  /** Runs the check and records whether it passed. */
  async note(client: string, provider: string, check: () => Promise<void>): Promise<void> {
    const cell = this.#cell(client, provider)
    cell.all += 1
    await check()
    cell.passed += 1
  }

  mark(client: string, provider: string): string {
    const { all, passed } = this.#cell(client, provider)
    if (all === 0) return ''
    return passed === all ? `✔ ${all}` : `✖ ${passed} of ${all}`
  }

  #cell(client: string, provider: string): Count {
    const row = getOrAdd(this.#cells, client, () => new Map<string, Count>())
    return getOrAdd(row, provider, () => ({ all: 0, passed: 0 }))
  }
}

interface Count {
  all: number
  passed: number
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

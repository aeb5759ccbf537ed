/** The state of the page, as its address holds it. */
export interface ConfigSearch {
  tab?: ConfigTab
  /** The open generation of the history. */
  generation?: number
  /** The line to scroll to. */
  line?: number
}

const CONFIG_TABS = ['text', 'diff', 'history'] as const
export type ConfigTab = (typeof CONFIG_TABS)[number]

/** Anyone can write an address: invalid values are dropped. */
export function readConfigSearch({ tab, generation, line }: Record<string, unknown>): ConfigSearch {
  const known = CONFIG_TABS.find((name) => name === tab)
  return {
    ...(known !== undefined && known !== 'text' && { tab: known }),
    ...(isCount(generation) && { generation }),
    ...(isCount(line) && { line }),
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

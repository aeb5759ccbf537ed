/** What the address of the page holds. */
export interface ConfigSearch {
  tab?: ConfigTab
  /** The one of the history that is open. */
  generation?: number
  /** Where the text is shown. */
  line?: number
}

export const CONFIG_TABS = ['text', 'diff', 'history'] as const
export type ConfigTab = (typeof CONFIG_TABS)[number]

/** Addresses are written by anyone: what does not fit is left out. */
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

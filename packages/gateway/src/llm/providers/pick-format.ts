import type { FormatName } from '../middle.ts'

/** The client's own format where the provider takes it, so that bytes can pass; else what the provider does best. */
export function pickFormat(client: FormatName, offered: readonly [FormatName, ...FormatName[]]): FormatName {
  return offered.includes(client) ? client : offered[0]
}

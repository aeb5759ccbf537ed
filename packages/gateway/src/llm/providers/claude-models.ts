/** Properties of a Claude model, read from its name, at any provider. */

export function isClaude(model: string): boolean {
  return /(?:^|[/.])claude/.test(model)
}

/**
 * The quirks of the Messages format for a model; `encodeRequest` of that format lists them. A name without a version
 * counts as the newest.
 */
export function claudeQuirks(model: string, { structuredSince }: { structuredSince: number }): Set<string> {
  const quirks = new Set<string>()
  // Models of other vendors follow the plain format.
  if (!isClaude(model)) return quirks
  const version = claudeVersion(model)
  if (version < 307) quirks.add('noThinking')
  if (version >= 406) quirks.add('adaptiveThinking')
  if (version >= 407) quirks.add('noSampling')
  else if (version >= 401) quirks.add('temperatureOrTopP')
  quirks.add(version < structuredSince ? 'noOutputFormat' : 'strictTools')
  return quirks
}

/**
 * The version as a number: 405 for `claude-sonnet-4-5-20250929`, 307 for `claude-3-7-sonnet`; `Infinity` without a
 * version.
 */
function claudeVersion(model: string): number {
  const found = /claude-(?:[a-z]+-)?v?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model)
  return found === null ? Infinity : Number(found[1]) * 100 + Number(found[2] ?? 0)
}

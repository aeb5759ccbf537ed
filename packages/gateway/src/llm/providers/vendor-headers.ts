import type { HeaderBlock } from '../../net/header-block.ts'

export type Vendor = 'anthropic' | 'openai' | 'google' | 'amazon'

/** Headers that only the SDKs of one vendor send go no further than to that vendor. */
export function dropForeignHeaders(headers: HeaderBlock, own: Vendor): void {
  const isForeign = (name: string): boolean =>
    PREFIXES.some(([vendor, prefix]) => vendor !== own && name.startsWith(prefix))
  // Where a credential stands is another's matter.
  headers.removeWhere((name) => name !== 'x-goog-api-key' && isForeign(name))
}

/** The vendor refuses calls that look like a browser's. */
export function dropBrowserHeaders(headers: HeaderBlock): void {
  headers.removeWhere((name) => name === 'origin' || BROWSER.test(name))
}

/** Anthropic wants to know which version of its API is meant. */
export function setAnthropicVersion(headers: HeaderBlock): void {
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', '2023-06-01')
}

const BROWSER = /^(access-control-request-|sec-fetch-)/
const PREFIXES: readonly (readonly [Vendor, string])[] = [
  ['anthropic', 'anthropic-'],
  ['openai', 'openai-'],
  ['google', 'x-goog-'],
  ['amazon', 'x-amz'],
]

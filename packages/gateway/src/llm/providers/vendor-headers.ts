import type { HeaderBlock } from '../../net/header-block.ts'

export type Vendor = 'anthropic' | 'openai' | 'google' | 'amazon'

/** Headers that only the SDKs of one vendor send go no further than to that vendor. */
export function dropForeignHeaders(headers: HeaderBlock, own: Vendor): void {
  for (const { vendor, prefix } of PREFIXES) {
    // Where a credential stands is another's matter.
    if (vendor !== own) headers.removePrefixed(prefix, 'x-goog-api-key')
  }
}

/** The vendor refuses calls that look like a browser's. */
export function dropBrowserHeaders(headers: HeaderBlock): void {
  headers.remove('origin')
  for (const prefix of BROWSER) headers.removePrefixed(prefix)
}

/** Anthropic wants to know which version of its API is meant. */
export function setAnthropicVersion(headers: HeaderBlock): void {
  if (!headers.has('anthropic-version')) headers.set('anthropic-version', '2023-06-01')
}

const BROWSER = ['access-control-request-', 'sec-fetch-']
const PREFIXES: readonly { vendor: Vendor; prefix: string }[] = [
  { vendor: 'anthropic', prefix: 'anthropic-' },
  { vendor: 'openai', prefix: 'openai-' },
  { vendor: 'google', prefix: 'x-goog-' },
  { vendor: 'amazon', prefix: 'x-amz' },
]

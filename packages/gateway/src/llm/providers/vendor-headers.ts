import { KEY_HEADERS } from '../../redaction/credential-names.ts'
import type { HeaderBlock } from '@portico/http'

/** Prefixes of headers that only the SDKs of one vendor send. */
const PREFIX_BY_VENDOR = { anthropic: 'anthropic-', openai: 'openai-', google: 'x-goog-', amazon: 'x-amz' } as const

export type Vendor = keyof typeof PREFIX_BY_VENDOR

/** Headers that only the SDKs of one vendor send go no further than to that vendor. */
export function dropForeignHeaders(headers: HeaderBlock, own: Vendor): void {
  for (const { vendor, prefix, keyHeader } of PREFIXES) {
    // `placeCredential` decides about headers of keys.
    if (vendor !== own) headers.removePrefixed(prefix, keyHeader)
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
const PREFIXES = (Object.keys(PREFIX_BY_VENDOR) as Vendor[]).map((vendor) => {
  const prefix = PREFIX_BY_VENDOR[vendor]
  return { vendor, prefix, keyHeader: KEY_HEADERS.find((name) => name.startsWith(prefix)) ?? '' }
})

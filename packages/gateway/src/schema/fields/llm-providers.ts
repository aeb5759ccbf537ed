import { string } from './values.ts'

/** What several providers of language models have. */

export const short = { min: 1, max: 256 }

export const model = () =>
  string(short).optional().describe("Model to ask for, in place of the request's; the request's when unset.")

export const azureApiVersion = () =>
  string({ min: 1, max: 64 }, { pattern: /^[\w.-]+$/, expected: 'a version such as `v1` or `2025-04-01-preview`' })
    .prefault('v1')
    .describe('Version of the API: `v1`, `preview` or a date.')

export function region(fallback: string) {
  const pattern = /^[a-z0-9-]{1,63}$/
  const expected = 'a region of 1 to 63 lower-case letters, digits and hyphens'
  return string({ min: 1, max: 63 }, { pattern, expected }).prefault(fallback)
}

import type { RequestRecord } from '@portico/gateway/admin-api'
import { shellWord } from '../format/shell.ts'
import { CONNECTION_HEADERS } from './resend-form.ts'

/** The request as a shell command. Credentials are redacted in the record, so the command has none. */
export function curlCommand({ method, scheme, host, path, requestHeaders }: RequestRecord): string {
  const headers = Object.entries(requestHeaders ?? {})
    .filter(([name]) => !CONNECTION_HEADERS.has(name))
    .flatMap(([name, values]) => (typeof values === 'string' ? [values] : values).map((value) => `${name}: ${value}`))
    .flatMap((line) => ['-H', shellWord(line)])
  const url = `${scheme}://${host ?? 'localhost'}${path ?? '/'}`
  return ['curl', '-X', shellWord(method ?? 'GET'), ...headers, '--path-as-is', shellWord(url)].join(' ')
}

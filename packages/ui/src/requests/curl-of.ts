import type { RequestRecord } from '@portico/gateway/admin-api'
import { shellWord } from '../format/shell.ts'

/** The request as a command. Credentials were hidden before it was kept, so that they are not in it. */
export function curlOf({ method, scheme, host, path, requestHeaders }: RequestRecord): string {
  const headers = Object.entries(requestHeaders ?? {})
    .filter(([name]) => !OF_THE_CONNECTION.has(name))
    .flatMap(([name, values]) => (typeof values === 'string' ? [values] : values).map((value) => `${name}: ${value}`))
    .flatMap((line) => ['-H', shellWord(line)])
  const url = `${scheme}://${host ?? 'localhost'}${path ?? '/'}`
  return ['curl', '-X', shellWord(method ?? 'GET'), ...headers, '--path-as-is', shellWord(url)].join(' ')
}

const OF_THE_CONNECTION = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect'])

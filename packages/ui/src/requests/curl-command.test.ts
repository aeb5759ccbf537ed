import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import type { RequestRecord } from '@portico/gateway/admin-api'
import { curlCommand } from './curl-command.ts'

test('a request as a command has each value as one word, whatever a client has sent', () => {
  const requestHeaders = {
    host: 'a.example',
    'x-a': "it's; $(id)",
    accept: ['text/html', 'a b'],
    'content-length': '3',
  }
  const record = { method: 'P;ST', scheme: 'http', host: 'a.example:8080', path: '/a?b=`id`', requestHeaders }
  const command = curlCommand(record as unknown as RequestRecord)
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }; ${command}`], { encoding: 'utf8' })
  assert.deepEqual(words.trimEnd().split('\n'), [
    ...['-X', 'P;ST', '-H', "x-a: it's; $(id)", '-H', 'accept: text/html', '-H', 'accept: a b', '--path-as-is'],
    'http://a.example:8080/a?b=`id`',
  ])
})

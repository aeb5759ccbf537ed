import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually, runProgram, useConfigFile, useProgram } from '../../testing/process.ts'

const READER = 'reader-token-0123456789'
const WRITER = 'writer-token-0123456789'
const NEXT = 'next-token-of-grafana-01'
const hash = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`
const grafana = { name: 'grafana', scope: 'Read', secretRef: { file: 'grafana.token' } }
const ci = { name: 'ci', scope: 'Write', hash: hash(WRITER) }

function configOf(tokens: readonly object[]): object {
  const listeners = [{ routes: [{ policies: { directResponse: { status: 200, body: 'page' } } }] }]
  return {
    config: { workers: 1, stateDir: 'state', keys: {}, admin: { tokens } },
    binds: [{ port: 0, address: '127.0.0.1', listeners }],
  }
}

test('tokens of the config have their scopes, follow reloads and their files, and are shown nowhere', async (t) => {
  const config = useConfigFile(t, configOf([grafana, ci]))
  writeFileSync(join(config.folder, 'grafana.token'), `${READER}\n`)
  const program = await useProgram(t, { args: ['-f', config.file] })
  const call = async (token: string | null, method = 'GET', path = '/api/keys') => {
    const headers = {
      'x-portico-same-origin': '1',
      'content-type': 'application/json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    }
    const body = method === 'POST' ? JSON.stringify({ name: 'bot' }) : null
    const response = await fetch(`${program.admin}${path}`, { method, headers, body })
    return { status: response.status, body: await response.text() }
  }
  const statuses = async (token: string | null) => [(await call(token)).status, (await call(token, 'POST')).status]
  assert.deepEqual(await statuses(null), [401, 401])
  assert.deepEqual(await statuses(READER), [200, 403])
  assert.deepEqual(await statuses(WRITER), [200, 201])
  assert.match((await call(READER, 'GET', '/api/audit')).body, /"by":"token ci, from 127\.0\.0\.1"/)

  const seen: string[] = []
  for (const path of ['/config_dump', '/api/config', '/api/state', '/api/audit', '/'])
    seen.push((await call(READER, 'GET', path)).body)

  writeFileSync(join(config.folder, 'grafana.token'), NEXT)
  await eventually('the new text of the file is a token', async () => (await call(NEXT)).status === 200)
  assert.deepEqual(
    [await statuses(READER), await statuses(NEXT)],
    [
      [401, 401],
      [200, 403],
    ],
  )

  config.replace(configOf([{ ...grafana, scope: 'Write' }]))
  await eventually('the token is gone', async () => (await call(WRITER)).status === 401)
  assert.deepEqual(await statuses(NEXT), [200, 409])
  const said = program.stdout() + program.stderr() + seen.join('')
  for (const secret of [READER, NEXT, WRITER, hash(WRITER)]) assert.ok(!said.includes(secret), secret)
  assert.doesNotMatch(program.stderr(), /restart the gateway/)
})

test('a token that is too short, has two forms or a name twice is rejected with its place', async (t) => {
  const short = { name: 'short', scope: 'Read', secretRef: 'hunter2' }
  const both = { ...ci, name: 'both', secretRef: WRITER }
  const config = useConfigFile(t, configOf([short, both, ci, ci, { name: 'ADMIN_TOKEN', scope: 'All', hash: 'x' }]))
  const { code, stderr } = await runProgram({ args: ['-f', config.file, '--validate-only'] })
  assert.notEqual(code, 0)
  for (const problem of [
    /config\.admin\.tokens\[0\]\.secretRef: found a shorter text, expected 16 to 1024 printable characters/,
    /config\.admin\.tokens\[1\]/,
    /config\.admin\.tokens\[3\]/,
    /config\.admin\.tokens\[4\]\.name: .*lower-case letters/,
    /config\.admin\.tokens\[4\]\.scope: .*Read/,
  ])
    assert.match(stderr, problem)
  assert.ok(!stderr.includes('hunter2') && !stderr.includes(WRITER))
})
